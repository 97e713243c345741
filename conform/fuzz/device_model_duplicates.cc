// SPDX-License-Identifier: BSD-2-Clause
// The requests that come again.
#include <utility>

#include "conform/fuzz/device_model.h"
#include "conform/fuzz/device_model_parts.h"

namespace roce::conform::fuzz {

Expectation DeviceModel::judge_duplicate(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  if (info.operation == Operation::read_request) return judge_duplicate_read(request);
  if (info.operation == Operation::compare_swap || info.operation == Operation::fetch_add) {
    return judge_duplicate_atomic(request);
  }
  const Bth bth = request.bth();
  Behaviour answered{.name = "duplicate acknowledged"};
  // Any PSN that was acknowledged adds nothing new.
  answered.answers.push_back(acknowledgement(state_.expected - kHalfOfPsns / 2, state_.expected - 1, state_.msn));
  Expectation expectation{std::move(answered)};
  const bool was_sent = bth.psn.distance_from(attributes_.first_psn) >= 0;
  // Whether a device that has executed no FLUSH or ATOMIC WRITE takes one for a duplicate is left to it.
  const bool is_plain = info.operation == Operation::send || info.operation == Operation::write;
  if (!bth.ack_req || !was_sent || !is_plain) expectation.push_back(ignored());
  return expectation;
}

bool DeviceModel::may_read_again(const Reth& read) const {
  // The data of a READ that comes again are those of now, and so is the right to them (RC-RESP-27, MEM-12).
  return read.dma_length == 0 ||
         memory_.may(read.r_key.value(), read.virtual_address, read.dma_length, transport::Access::remote_read);
}

Expectation DeviceModel::judge_duplicate_read(const Packet& request) const {
  const Psn psn = request.bth().psn;
  const Reth reth = request.get<Reth>().value_or(Reth{});
  Expectation expectation;
  std::size_t age = 0;
  for (const Executed& executed : state_.executed) {
    const std::int32_t packets = psn.distance_from(executed.psn);
    const bool is_it = executed.operation == Operation::read_request && packets >= 0 &&
                       static_cast<std::uint32_t>(packets) < executed.psns;
    const std::uint64_t done = is_it ? static_cast<std::uint64_t>(packets) * attributes_.path_mtu : 0;
    if (is_it && reth.r_key == executed.read.r_key && reth.virtual_address == executed.read.virtual_address + done &&
        reth.dma_length + done <= executed.read.dma_length && may_read_again(executed.read)) {
      const bool is_whole_rest = reth.dma_length + done == executed.read.dma_length;
      // RC-RESP-30: a part of a READ begins with FIRST or ONLY, or goes on where the whole would.
      for (const bool goes_on : {false, true}) {
        if (goes_on && packets == 0) break;
        Behaviour again{.name = "READ answered again"};
        add_read_responses(again, reth, psn, state_.msn, goes_on);
        expectation.push_back(std::move(again));
      }
      // A device that executes a READ with a payload may answer it again, too.
      const bool is_odd = request.payload_length() != 0;
      if (is_whole_rest && !is_odd && age < attributes_.rd_atomic_depth) return expectation;
      break;
    }
    ++age;
  }
  expectation.push_back(ignored());
  Behaviour refused = refuse(NakCode::remote_access_error);
  // The READ that is refused is the old one.
  refused.answers.front().first = psn;
  expectation.push_back(std::move(refused));
  return expectation;
}

Expectation DeviceModel::judge_duplicate_atomic(const Packet& request) const {
  const Psn psn = request.bth().psn;
  std::size_t age = 0;
  for (const Executed& executed : state_.executed) {
    if (executed.psn == psn && executed.operation != Operation::read_request) {
      Behaviour again{.name = "atomic answered again"};
      again.answers.push_back({.opcode = Opcode::rc_atomic_acknowledge,
                               .first = psn,
                               .last = psn,
                               .msn = state_.msn,
                               .original = executed.original});
      const bool is_same = executed.operation == request.info().operation && request.payload_length() == 0 &&
                           request.get<AtomicEth>() == executed.atomic;
      Expectation expectation{std::move(again)};
      if (!is_same || age >= attributes_.rd_atomic_depth) expectation.push_back(ignored());
      return expectation;
    }
    ++age;
  }
  return {ignored()};
}

}  // namespace roce::conform::fuzz
