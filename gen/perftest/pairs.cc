// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/pairs.h"

#include <algorithm>

#include "roce/live/pattern.h"

namespace roce::gen {

namespace {

using transport::Access;
using transport::QpState;

// The values that the programs use.
constexpr std::uint8_t kTimeout = 14;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kMinRnrTimer = 12;
constexpr std::uint32_t kReceives = 512;

[[nodiscard]] Access access_for(PerftestVerb verb) {
  switch (verb) {
    case PerftestVerb::write:
      return Access::remote_write;
    case PerftestVerb::read:
      return Access::remote_read;
    case PerftestVerb::atomic:
      return Access::remote_atomic;
    case PerftestVerb::send:
      break;
  }
  return Access::none;
}

[[nodiscard]] bool uses_reads(PerftestVerb verb) {
  return verb == PerftestVerb::read || verb == PerftestVerb::atomic;
}

[[nodiscard]] std::size_t stride_of(const PerftestOptions& options, const PerftestAgreement& agreed) {
  const std::size_t bytes = std::max(options.size, agreed.cycle_buffer);
  return (bytes + agreed.cache_line - 1) / agreed.cache_line * agreed.cache_line;
}

}  // namespace

PerftestPairs::PerftestPairs(live::Endpoint& endpoint, const PerftestOptions& options, const PerftestAgreement& agreed)
    : endpoint_(endpoint),
      options_(options),
      path_mtu_(agreed.path_mtu),
      stride_(stride_of(options, agreed)),
      domain_(endpoint.device()),
      outgoing_(domain_, options.size),
      incoming_(domain_, stride_ * options.qps, Access::local_write | access_for(verb_of(options.program))),
      results_(domain_, std::max<std::size_t>(1, result_slots() * options.qps * options.size)) {
  const PerftestVerb verb = verb_of(options.program);
  live::fill_pattern(outgoing(), 0);
  if (verb == PerftestVerb::read) live::fill_pattern(incoming_.bytes(), 0);
  live::QueuePair::Options queues;
  queues.max_send = options.tx_depth;
  queues.max_receive = kReceives;
  for (std::size_t index = 0; index < options.qps; ++index) {
    Pair& pair = pairs_.emplace_back();
    pair.qp = std::make_unique<live::QueuePair>(endpoint, domain_, queues);
    pair.qp->modify({.state = QpState::init, .p_key_index = 0, .port = 1, .access = access_for(verb)}, Time{},
                    "move a queue pair to INIT");
    pair.own.qpn = pair.qp->qpn();
    pair.own.psn = endpoint.random().psn();
    pair.own.out_reads = uses_reads(verb) ? kOutReads : 1;
    pair.own.r_key = verb == PerftestVerb::send ? RKey{} : incoming_.info().r_key;
    pair.own.address = incoming_.info().address + index * stride_;
    pair.own.gid = endpoint.gid();
  }
}

void PerftestPairs::connect(std::size_t index, const PerftestKeys& remote, Time now) {
  if (remote.gid == Gid{}) {
    throw live::ScriptFailure("the peer told no GID; give the perftest program -x with the index of a RoCE v2 GID");
  }
  learn(index, remote);
  Pair& pair = pairs_[index];
  transport::QpChange rtr{.state = QpState::rtr};
  rtr.address = transport::AddressVector{.sgid_index = endpoint_.sgid_index(), .dgid = remote.gid};
  rtr.path_mtu = path_mtu_;
  rtr.dest_qp = remote.qpn;
  rtr.rq_psn = remote.psn;
  rtr.max_dest_rd_atomic = static_cast<std::uint8_t>(pair.own.out_reads);
  rtr.min_rnr_timer = kMinRnrTimer;
  pair.qp->modify(rtr, now, "move a queue pair to RTR");
  transport::QpChange rts{.state = QpState::rts, .sq_psn = pair.own.psn};
  rts.max_rd_atomic = static_cast<std::uint8_t>(std::min(remote.out_reads, kOutReads));
  rts.timeout = kTimeout;
  rts.retry_count = kRetries;
  rts.rnr_retry = kRetries;
  pair.qp->modify(rts, now, "move a queue pair to RTS");
}

std::size_t PerftestPairs::result_slots() const {
  switch (verb_of(options_.program)) {
    case PerftestVerb::read:
      return 2;
    case PerftestVerb::atomic:
      return options_.tx_depth;
    case PerftestVerb::send:
    case PerftestVerb::write:
      break;
  }
  return 0;
}

std::size_t PerftestPairs::result_offset(std::size_t index, std::uint64_t number) const {
  // Programs whose requests bring nothing back have no slots, and do not call this.
  const std::size_t slots = std::max<std::size_t>(1, result_slots());
  const std::size_t slot =
      verb_of(options_.program) == PerftestVerb::read ? std::min<std::uint64_t>(number, 1) : number % slots;
  return (index * slots + slot) * options_.size;
}

transport::Counters PerftestPairs::counters() const {
  transport::Counters sum;
  for (const Pair& pair : pairs_) {
    const transport::Counters counters = pair.qp->counters();
    for (const transport::CounterName& name : transport::counter_names()) sum.*name.member += counters.*name.member;
  }
  return sum;
}

std::uint64_t PerftestPairs::progress() const {
  const transport::Counters counters = this->counters();
  return counters.received_packets - counters.duplicate_requests - counters.out_of_sequence -
         counters.rnr_naks_received - counters.sequence_naks_received - counters.ghost_acks;
}

}  // namespace roce::gen
