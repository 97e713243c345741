// SPDX-License-Identifier: BSD-2-Clause
// The requests with the PSN that is expected, in their order.
#include <algorithm>
#include <optional>
#include <utility>

#include "conform/fuzz/device_model.h"
#include "conform/fuzz/device_model_parts.h"
#include "conform/language/functions.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"

namespace roce::conform::fuzz {

namespace {

using transport::Access;
using transport::CompletionStatus;
using transport::EventType;

constexpr std::uint32_t kMostMessageBytes = 1U << 31U;

}  // namespace

void DeviceModel::add_executed(Expectation& expectation, Behaviour behaviour, const Packet& request) const {
  if (!request.bth().ack_req) expectation.push_back(behaviour);
  const Msn msn = request.info().ends_message() ? state_.msn + 1 : state_.msn;
  behaviour.answers.push_back(acknowledgement(state_.expected, state_.expected, msn));
  expectation.push_back(std::move(behaviour));
}

Expectation DeviceModel::refuse_invalidation(const PostedReceive& receive) const {
  // A peer can invalidate the key of a window that is bound, but of no region (MEM-06). The data may be there, and
  // their ACK may be sent.
  Expectation expectation{refuse(NakCode::invalid_request), refuse(NakCode::remote_access_error)};
  Behaviour silent = refuse(NakCode::invalid_request);
  silent.name = "refused";
  silent.answers.clear();
  Behaviour acknowledged = silent;
  acknowledged.answers.push_back(acknowledgement(state_.expected, state_.expected, state_.msn));
  expectation.push_back(std::move(acknowledged));
  expectation.push_back(std::move(silent));
  for (Behaviour& one : expectation) {
    one.unknown = MemoryRange{receive.address, receive.length};
    one.event = AwaitedEvent{.types = {EventType::qp_request_error, EventType::qp_access_error, EventType::qp_fatal}};
  }
  return expectation;
}

Expectation DeviceModel::execute_send(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  const bool begins = info.begins_message();
  const std::uint32_t length = request.payload_length();
  Expectation expectation;
  if (begins && state_.receives.empty()) expectation.push_back(not_ready());
  if (!has_legal_length(request)) expectation.push_back(refuse(NakCode::invalid_request));
  if (!expectation.empty()) return expectation;

  const PostedReceive& receive = state_.receives.front();
  const std::uint64_t before = begins ? 0 : state_.received;
  if (before + length > receive.length) {
    // RC-RESP-13. It may have written as much as there was room for.
    for (const NakCode code : {NakCode::invalid_request, NakCode::remote_operational_error}) {
      Behaviour refused = refuse(code);
      refused.unknown = MemoryRange{receive.address, receive.length};
      expectation.push_back(std::move(refused));
    }
    return expectation;
  }
  const std::optional<Ieth> ieth = request.get<Ieth>();
  if (ieth && !memory_.has(Key::window, ieth->r_key.value())) return refuse_invalidation(receive);
  Behaviour done{.name = std::string{kExecuted}, .frees_window = ieth.has_value()};
  const Bytes payload = request.payload();
  done.writes.push_back({receive.address + before, {payload.begin(), payload.end()}});
  if (info.ends_message()) {
    ReceiveDone completion{.wr_id = receive.wr_id, .statuses = {CompletionStatus::success}};
    completion.byte_length = static_cast<std::uint32_t>(before + length);
    if (info.immediate) completion.immediate = request.get<ImmDt>()->data;
    if (ieth) completion.invalidated = ieth->r_key.value();
    done.completions.push_back(std::move(completion));
  }
  done.effect = [ends = info.ends_message(), received = before + length](DeviceState& state) {
    come(state);
    ++state.expected;
    state.open = ends ? OpenMessage::none : OpenMessage::send;
    state.received = received;
    if (!ends) return;
    ++state.msn;
    state.receives.pop_front();
  };
  add_executed(expectation, std::move(done), request);
  return expectation;
}

Expectation DeviceModel::execute_write(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  const bool begins = info.begins_message();
  const Reth reth = begins ? request.get<Reth>().value_or(Reth{}) : state_.write;
  const std::uint64_t before = begins ? 0 : state_.received;
  const std::uint64_t after = before + request.payload_length();
  const bool wants_receive = info.immediate && info.ends_message();
  Expectation expectation;
  if (wants_receive && state_.receives.empty()) expectation.push_back(not_ready());
  if (reth.dma_length != 0 &&
      !memory_.may(reth.r_key.value(), reth.virtual_address, reth.dma_length, Access::remote_write)) {
    expectation.push_back(refuse(NakCode::remote_access_error));
  }
  const bool is_complete = after == reth.dma_length;
  const bool is_right_sum = info.ends_message() ? is_complete : after <= reth.dma_length;
  if (!has_legal_length(request) || !is_right_sum || reth.dma_length > kMostMessageBytes) {
    expectation.push_back(refuse(NakCode::invalid_request));
  }
  if (!expectation.empty()) return expectation;

  // Nothing can follow that is right, which is seen now or then.
  if (is_complete && !info.ends_message()) expectation.push_back(refuse(NakCode::invalid_request));
  Behaviour done{.name = std::string{kExecuted}};
  const Bytes payload = request.payload();
  done.writes.push_back({reth.virtual_address + before, {payload.begin(), payload.end()}});
  if (wants_receive) {
    ReceiveDone completion{.wr_id = state_.receives.front().wr_id, .statuses = {CompletionStatus::success}};
    completion.byte_length = reth.dma_length;
    completion.is_write = true;
    completion.immediate = request.get<ImmDt>()->data;
    done.completions.push_back(std::move(completion));
  }
  done.effect = [ends = info.ends_message(), after, reth, wants_receive](DeviceState& state) {
    come(state);
    ++state.expected;
    state.open = ends ? OpenMessage::none : OpenMessage::write;
    state.received = after;
    state.write = reth;
    if (ends) ++state.msn;
    if (wants_receive) state.receives.pop_front();
  };
  add_executed(expectation, std::move(done), request);
  return expectation;
}

void DeviceModel::add_read_responses(Behaviour& behaviour, const Reth& read, Psn psn, Msn msn, bool goes_on) const {
  const std::uint64_t packets = packets_for(read.dma_length, attributes_.path_mtu);
  for (std::uint64_t i = 0; i < packets; ++i) {
    const std::uint64_t offset = i * attributes_.path_mtu;
    const std::uint64_t length = std::min<std::uint64_t>(attributes_.path_mtu, read.dma_length - offset);
    const bool is_first = i == 0 && !goes_on;
    const bool is_last = i + 1 == packets;
    Answer answer;
    answer.opcode = is_first ? (is_last ? Opcode::rc_read_response_only : Opcode::rc_read_response_first)
                             : (is_last ? Opcode::rc_read_response_last : Opcode::rc_read_response_middle);
    answer.first = answer.last = psn + static_cast<std::uint32_t>(i);
    answer.msn = msn;
    if (length != 0) {
      const auto bytes = memory_.read(read.virtual_address + offset, length);
      answer.payload = {bytes.begin(), bytes.end()};
    }
    behaviour.answers.push_back(std::move(answer));
  }
}

void DeviceModel::add_payload_refusals(Expectation& expectation) const {
  expectation.push_back(refuse(NakCode::invalid_request));
  expectation.push_back(ignored());
}

Expectation DeviceModel::execute_read(const Packet& request) const {
  const Reth reth = request.get<Reth>().value_or(Reth{});
  Expectation expectation;
  if (reth.dma_length > kMostMessageBytes) expectation.push_back(refuse(NakCode::invalid_request));
  if (reth.dma_length != 0 &&
      !memory_.may(reth.r_key.value(), reth.virtual_address, reth.dma_length, Access::remote_read)) {
    expectation.push_back(refuse(NakCode::remote_access_error));
  }
  const bool is_wrong = !expectation.empty();
  if (request.payload_length() != 0) add_payload_refusals(expectation);
  if (is_wrong) return expectation;

  const auto packets = static_cast<std::uint32_t>(packets_for(reth.dma_length, attributes_.path_mtu));
  Behaviour done{.name = std::string{kExecuted}};
  add_read_responses(done, reth, state_.expected, state_.msn + 1, false);
  Executed executed{.operation = Operation::read_request, .psn = state_.expected, .psns = packets, .read = reth};
  done.effect = [executed, packets](DeviceState& state) {
    come(state);
    state.expected = state.expected + packets;
    ++state.msn;
    state.executed.push_front(executed);
  };
  expectation.push_back(std::move(done));
  return expectation;
}

Expectation DeviceModel::execute_atomic(const Packet& request) const {
  constexpr std::uint64_t size = 8;
  const AtomicEth atomic = request.get<AtomicEth>().value_or(AtomicEth{});
  Expectation expectation;
  if (atomic.virtual_address % size != 0) expectation.push_back(refuse(NakCode::invalid_request));
  if (!memory_.may(atomic.r_key.value(), atomic.virtual_address, size, Access::remote_atomic)) {
    expectation.push_back(refuse(NakCode::remote_access_error));
  }
  const bool is_wrong = !expectation.empty();
  if (request.payload_length() != 0) add_payload_refusals(expectation);
  if (is_wrong) return expectation;
  const bool adds = request.info().operation == Operation::fetch_add;
  const std::uint64_t original = memory_.read_word(atomic.virtual_address);
  Behaviour done{.name = std::string{kExecuted}};
  if (adds || original == atomic.compare) {
    done.writes.push_back(
        {atomic.virtual_address, MemoryModel::word(adds ? original + atomic.swap_or_add : atomic.swap_or_add)});
  }
  done.answers.push_back({.opcode = Opcode::rc_atomic_acknowledge,
                          .first = state_.expected,
                          .last = state_.expected,
                          .msn = state_.msn + 1,
                          .original = original});
  Executed executed{.operation = request.info().operation, .psn = state_.expected, .atomic = atomic};
  executed.original = original;
  done.effect = [executed](DeviceState& state) {
    come(state);
    ++state.expected;
    ++state.msn;
    state.executed.push_front(executed);
  };
  expectation.push_back(std::move(done));
  return expectation;
}

}  // namespace roce::conform::fuzz
