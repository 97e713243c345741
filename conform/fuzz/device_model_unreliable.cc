// SPDX-License-Identifier: BSD-2-Clause
// The requests to UC and UD QPs, which are never answered (IBTA vol. 1, 9.8.2 and 9.8.3).
#include <utility>
#include <vector>

#include "conform/fuzz/device_model.h"
#include "conform/fuzz/device_model_parts.h"
#include "roce/wire/deth.h"
#include "roce/wire/header_area.h"
#include "roce/wire/immdt.h"

namespace roce::conform::fuzz {

namespace {

using transport::Access;
using transport::CompletionStatus;

// The bytes in front of an IPv4 header there may be anything.
constexpr std::uint64_t kAreaBeforeIpv4 = 20;

}  // namespace

Behaviour DeviceModel::lose_message(const Packet& request) const {
  Behaviour lost{.name = "dropped"};
  // UC-02, UC-04. Nothing of the message is taken any more; its receive serves the next one (UC-03).
  lost.effect = [next = request.bth().psn + 1](DeviceState& state) {
    state.expected = next;
    state.open = OpenMessage::none;
    state.is_unsure = false;
  };
  return lost;
}

Expectation DeviceModel::judge_unreliable(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  const bool is_expected = request.bth().psn == state_.expected;
  if (!info.defined()) {
    // Whether a packet that is dropped for its opcode has a place among the PSNs is open.
    Behaviour dropped = ignored();
    dropped.effect = [](DeviceState& state) { state.is_unsure = state.open != OpenMessage::none; };
    return {std::move(dropped)};
  }
  const OpenMessage kind = info.operation == Operation::send ? OpenMessage::send : OpenMessage::write;
  const bool goes_on = is_expected && state_.open == kind;
  if (!info.begins_message() && !goes_on) return {lose_message(request)};
  Expectation expectation = execute_unreliable(request);
  // A begin inside of a message, without a gap in front of it, is the next message or wrong.
  const bool may_be_dropped =
      state_.is_unsure ? is_expected : info.begins_message() && is_expected && state_.open != OpenMessage::none;
  Behaviour& done = expectation.front();
  if (!may_be_dropped || done.name == "dropped") return expectation;
  if (!done.completions.empty()) {
    expectation.push_back(lose_message(request));
    return expectation;
  }
  done.name = "executed or dropped";
  const std::vector<MemoryWrite> writes = std::exchange(done.writes, {});
  for (const MemoryWrite& write : writes) {
    done.unknown = MemoryRange{write.address, write.bytes.size()};
  }
  done.effect = [effect = done.effect](DeviceState& state) {
    effect(state);
    state.is_unsure = state.open != OpenMessage::none;
  };
  return expectation;
}

Expectation DeviceModel::execute_unreliable(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  const bool is_send = info.operation == Operation::send;
  const bool begins = info.begins_message();
  const bool ends = info.ends_message();
  const Reth write = begins ? request.get<Reth>().value_or(Reth{}) : state_.write;
  const std::uint64_t before = begins ? 0 : state_.received;
  const std::uint64_t after = before + request.payload_length();
  const bool needs_receive = is_send || info.immediate;
  Behaviour lost = lose_message(request);
  if ((is_send || (info.immediate && ends)) && state_.receives.empty()) return {std::move(lost)};

  std::uint64_t place = write.virtual_address;
  if (is_send) {
    const PostedReceive& receive = state_.receives.front();
    place = receive.address;
    // A message that is given up may have begun to fill its receive.
    lost.unknown = MemoryRange{receive.address, receive.length};
    if (!has_legal_length(request) || after > receive.length) return {std::move(lost)};
  } else {
    const bool may = write.dma_length == 0 ||
                     memory_.may(write.r_key.value(), write.virtual_address, write.dma_length, Access::remote_write);
    if (!may || !has_right(Operation::write)) return {std::move(lost)};
    if (write.dma_length != 0) lost.unknown = MemoryRange{write.virtual_address, write.dma_length};
    const bool is_right_sum = ends ? after == write.dma_length : after <= write.dma_length;
    if (!has_legal_length(request) || !is_right_sum) return {std::move(lost)};
  }
  Behaviour done{.name = std::string{kExecuted}};
  const Bytes payload = request.payload();
  // Without bytes the address may be any.
  if (!payload.empty()) done.writes.push_back({place + before, {payload.begin(), payload.end()}});
  if (needs_receive && ends) {
    ReceiveDone completion{.wr_id = state_.receives.front().wr_id, .statuses = {CompletionStatus::success}};
    completion.byte_length = static_cast<std::uint32_t>(is_send ? after : write.dma_length);
    completion.is_write = !is_send;
    if (info.immediate) completion.immediate = request.get<ImmDt>()->data;
    done.completions.push_back(std::move(completion));
  }
  // Nothing can follow a WRITE that has all its bytes and no end: the device sees that now or then.
  const bool is_doubtful = !is_send && !ends && after == write.dma_length;
  if (is_doubtful) done.unknown = MemoryRange{write.virtual_address, write.dma_length};
  if (is_doubtful) done.writes.clear();
  const OpenMessage open = ends ? OpenMessage::none : is_send ? OpenMessage::send : OpenMessage::write;
  done.effect = [next = request.bth().psn + 1, open, after, write, is_doubtful,
                 takes_receive = !done.completions.empty()](DeviceState& state) {
    state.expected = next;
    state.open = open;
    state.is_unsure = is_doubtful;
    state.received = after;
    state.write = write;
    if (takes_receive) state.receives.pop_front();
  };
  return {std::move(done)};
}

Expectation DeviceModel::judge_datagram(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  const auto deth = request.get<Deth>();
  const bool is_whole = info.defined() && info.begins_message() && info.ends_message() && deth;
  if (!is_whole || deth->q_key != attributes_.q_key || request.payload_length() > attributes_.port_mtu) {
    return {ignored()};
  }
  // UD-05.
  if (state_.receives.empty()) return {ignored()};
  const PostedReceive& receive = state_.receives.front();
  const std::uint64_t length = kNetworkHeaderArea + request.payload_length();
  ReceiveDone completion{.wr_id = receive.wr_id, .statuses = {CompletionStatus::success}};
  const auto take_receive = [](DeviceState& state) { state.receives.pop_front(); };
  if (length > receive.length) {
    Behaviour kept = ignored();
    kept.unknown = MemoryRange{receive.address, receive.length};
    completion.statuses = failures();
    Behaviour failed{.name = "receive failed", .unknown = kept.unknown, .completions = {std::move(completion)}};
    failed.effect = take_receive;
    return {std::move(failed), std::move(kept)};
  }
  completion.byte_length = static_cast<std::uint32_t>(length);
  completion.source_qp = deth->source_qp;
  if (info.immediate) completion.immediate = request.get<ImmDt>()->data;
  Behaviour done{.name = "delivered"};
  const std::uint64_t unknown = request.net().version == RoceVersion::v2_ipv4 ? kAreaBeforeIpv4 : 0;
  if (unknown != 0) done.unknown = MemoryRange{receive.address, unknown};
  const auto area = network_header_area(request);
  const Bytes payload = request.payload();
  done.writes.push_back({receive.address + unknown, {area.begin() + static_cast<std::ptrdiff_t>(unknown), area.end()}});
  done.writes.push_back({receive.address + kNetworkHeaderArea, {payload.begin(), payload.end()}});
  done.completions.push_back(std::move(completion));
  done.effect = take_receive;
  Expectation expectation{std::move(done)};
  // A host may look for the way back before it takes a packet, and need not have other addresses.
  if (request.net().source != port_.tester_gid || request.net().version != port_.version) {
    expectation.push_back(ignored());
  }
  return expectation;
}

}  // namespace roce::conform::fuzz
