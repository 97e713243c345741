// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/device_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conform/fuzz/device_model_parts.h"
#include "conform/fuzz/service.h"
#include "roce/wire/checksum.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"

namespace roce::conform::fuzz {

namespace {

using transport::Access;
using transport::CompletionStatus;
using transport::EventType;

Access right_for(Operation operation) {
  switch (operation) {
    case Operation::write:
      return Access::remote_write;
    case Operation::read_request:
      return Access::remote_read;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return Access::remote_atomic;
    default:
      return Access::none;
  }
}

bool has_right_checksum(const Packet& packet) {
  const auto ip = packet.get<Ipv4>();
  if (!ip) return true;
  return ip->checksum == ipv4_checksum(packet.layer_bytes(*packet.find(HeaderId::ipv4)));
}

}  // namespace

DeviceModel::Attributes DeviceModel::attributes_of(const QpSetup& setup, Qpn qpn, std::uint32_t port_mtu) {
  return {.qpn = qpn,
          .type = setup.type,
          .state = setup.state,
          .peer = setup.peer,
          .q_key = setup.q_key,
          .port_mtu = port_mtu,
          .path_mtu = setup.path_mtu,
          .first_psn = setup.rq_psn,
          .access = setup.access,
          .rnr_timer = setup.min_rnr_timer,
          .rd_atomic_depth = setup.max_dest_rd_atomic};
}

DeviceModel::DeviceModel(const Attributes& attributes, const Port& port, MemoryModel& memory)
    : attributes_(attributes), port_(port), memory_(memory) {
  state_.expected = attributes.first_psn;
}

void DeviceModel::apply(const Behaviour& behaviour) {
  for (const MemoryWrite& write : behaviour.writes) memory_.write(write.address, write.bytes);
  if (behaviour.frees_window) free_window();
  note_events(behaviour);
  if (behaviour.effect) behaviour.effect(state_);
}

void DeviceModel::note_events(const Behaviour& behaviour) {
  if (attributes_.state == transport::QpState::rtr) {
    // QP-06. Whether a packet that is not executed tells it, too, is left to the device.
    if (!established_) {
      established_ = events_.size();
      events_.push_back({.types = {EventType::communication_established}, .is_required = false});
    }
    if (behaviour.name == kExecuted) events_[*established_].is_required = true;
  }
  if (behaviour.event) events_.push_back(*behaviour.event);
}

BindOutcome DeviceModel::judge(const Bind& bind) const {
  if (!attributes_.has_windows) return BindOutcome::none;
  if (state_.is_stopped) return BindOutcome::flushed;
  // MEM-09, MEM-10.
  const bool is_inside = bind.address >= 0 && bind.address + std::int64_t{bind.length} <= std::int64_t{kRegionBytes};
  return bind.region == Key::right && is_inside && !has_window() ? BindOutcome::bound : BindOutcome::refused;
}

std::vector<ReceiveDone> DeviceModel::stop() {
  std::vector<ReceiveDone> completions = flushed_receives();
  state_.is_stopped = true;
  state_.receives.clear();
  return completions;
}

std::uint64_t DeviceModel::length_of(Key key) const {
  return memory_.length_of(key).value_or(kRegionBytes);
}

void DeviceModel::restart(Psn first_psn) {
  attributes_.first_psn = first_psn;
  established_.reset();
  DeviceState fresh{.expected = first_psn, .forgotten = std::move(state_.executed)};
  std::ranges::move(state_.forgotten, std::back_inserter(fresh.forgotten));
  state_ = std::move(fresh);
}

Key DeviceModel::key_of(const Executed& executed) const {
  const bool is_read = executed.operation == Operation::read_request;
  return memory_.key_of(is_read ? executed.read.r_key.value() : executed.atomic.r_key.value());
}

std::int64_t DeviceModel::offset_of(const Executed& executed) const {
  const bool is_read = executed.operation == Operation::read_request;
  const std::uint64_t address = is_read ? executed.read.virtual_address : executed.atomic.virtual_address;
  return memory_.offset_of(is_read ? executed.read.r_key.value() : executed.atomic.r_key.value(), address);
}

unsigned DeviceModel::abstract_state() const {
  using transport::QpType;
  const unsigned has_none = state_.receives.empty() ? 1 : 0;
  if (attributes_.type == QpType::ud) return kReliableStates + kUnreliableStates + has_none;
  if (attributes_.type == QpType::uc) {
    return kReliableStates + 2 * (2 * static_cast<unsigned>(state_.open) + (state_.is_unsure ? 1U : 0U)) + has_none;
  }
  if (state_.is_stopped) return kReliableStates - 1;
  unsigned number = static_cast<unsigned>(state_.open);
  for (const bool flag : {state_.is_gap_known, state_.is_rnr, state_.executed.empty(), state_.receives.empty()}) {
    number = 2 * number + (flag ? 1 : 0);
  }
  return number;
}

bool DeviceModel::is_taken(const Packet& request) const {
  // QP-05.
  if (attributes_.state == transport::QpState::init) return false;
  if (state_.is_stopped || !request.is_roce() || request.problem().reason != ParseReason::none) return false;
  if (check_icrc(request).status != IcrcStatus::good || request.vlan_tci()) return false;
  if (!has_right_checksum(request)) return false;
  const auto ethernet = request.get<Ethernet>();
  const bool is_ours = ethernet && ethernet->destination == port_.device_mac;
  const Bth bth = request.bth();
  // Datagrams come from anybody, to any address of the device.
  const bool is_for_all = attributes_.type == transport::QpType::ud &&
                          (request.net().version != port_.version || request.net().destination == port_.device_gid);
  const bool is_between = is_for_all || request.is_between(port_.version, port_.tester_gid, port_.device_gid);
  return is_ours && is_between && bth.version == 0 && bth.p_key.partition() == kDefaultPKey.partition() &&
         bth.dest_qp == attributes_.qpn && service_of(request.opcode()) == service_of(attributes_.type) &&
         !request.info().is_response();
}

void DeviceModel::limit_credits(Behaviour& behaviour) const {
  const std::size_t receives = state_.receives.size() - std::min(state_.receives.size(), behaviour.completions.size());
  std::uint8_t code = 0;
  while (code < kMostCredits &&
         *AethSyndrome::ack_with_credits(static_cast<std::uint8_t>(code + 1)).credits() <= receives) {
    ++code;
  }
  for (Answer& answer : behaviour.answers) answer.most_credits = code;
}

Expectation DeviceModel::judge(const Packet& request) const {
  if (!is_taken(request)) return {ignored()};
  switch (attributes_.type) {
    case transport::QpType::rc: {
      Expectation expectation = judge_reliable(request);
      for (Behaviour& behaviour : expectation) limit_credits(behaviour);
      return expectation;
    }
    case transport::QpType::uc:
      return judge_unreliable(request);
    default:
      return judge_datagram(request);
  }
}

Expectation DeviceModel::judge_reliable(const Packet& request) const {
  const std::int32_t ahead = request.bth().psn.distance_from(state_.expected);
  if (!request.info().defined() && ahead != 0) {
    // Whether an unknown opcode is dropped before its PSN is looked at is open.
    Expectation either = ahead > 0 ? judge_gap() : Expectation{};
    either.push_back(ignored());
    return either;
  }
  if (ahead == 0) return judge_next(request);
  if (ahead > 0) return judge_gap();
  Expectation expectation = judge_duplicate(request);
  // The PSN just half of the numbers away is as far ahead as it is behind.
  if (ahead == -kHalfOfPsns) std::ranges::move(judge_gap(), std::back_inserter(expectation));
  return expectation;
}

Expectation DeviceModel::judge_gap() const {
  if (state_.is_gap_known) return {ignored()};
  Behaviour nak{.name = "NAK 0x60"};
  nak.answers.push_back(acknowledgement(state_.expected, state_.expected, state_.msn));
  nak.answers.back().syndrome = AethSyndrome::nak(NakCode::psn_sequence_error).value();
  nak.effect = [](DeviceState& state) { state.is_gap_known = true; };
  Expectation expectation{std::move(nak)};
  // RC-RESP-03: what follows a request without a receive may be dropped.
  if (state_.is_rnr) expectation.push_back(ignored());
  return expectation;
}

bool DeviceModel::is_in_order(const OpcodeInfo& info) const {
  switch (state_.open) {
    case OpenMessage::none:
      return info.begins_message();
    case OpenMessage::send:
      return info.operation == Operation::send && !info.begins_message();
    case OpenMessage::write:
      return info.operation == Operation::write && !info.begins_message();
  }
  return false;
}

bool DeviceModel::has_right(Operation operation) const {
  return transport::allows(attributes_.access, right_for(operation));
}

bool DeviceModel::has_legal_length(const Packet& request) const {
  const std::uint32_t length = request.payload_length();
  switch (request.info().payload) {
    case PayloadRule::none:
      return length == 0;
    case PayloadRule::exactly_mtu:
      return length == attributes_.path_mtu;
    case PayloadRule::one_to_mtu:
      return length >= 1 && length <= attributes_.path_mtu;
    case PayloadRule::zero_to_mtu:
      return length <= attributes_.path_mtu;
    default:
      return true;
  }
}

Expectation DeviceModel::judge_next(const Packet& request) const {
  const OpcodeInfo& info = request.info();
  if (!info.defined()) return {refuse(NakCode::invalid_request), ignored()};
  if (!is_in_order(info) || !has_right(info.operation)) return {refuse(NakCode::invalid_request)};
  switch (info.operation) {
    case Operation::send:
      return execute_send(request);
    case Operation::write:
      return execute_write(request);
    case Operation::read_request:
      return execute_read(request);
    case Operation::compare_swap:
    case Operation::fetch_add:
      return execute_atomic(request);
    default:
      return {refuse(NakCode::invalid_request), ignored()};
  }
}

Behaviour DeviceModel::refuse(NakCode code) const {
  const std::uint8_t syndrome = AethSyndrome::nak(code).value();
  Behaviour refused{.name = fmt::format("NAK 0x{:02x}", syndrome)};
  refused.answers.push_back(acknowledgement(state_.expected, state_.expected, state_.msn));
  refused.answers.back().syndrome = syndrome;
  refused.completions = flushed_receives();
  const bool is_access = code == NakCode::remote_access_error;
  // RC-RESP-24, IBTA 11.6.3.
  refused.event = AwaitedEvent{.types = {is_access ? EventType::qp_access_error : EventType::qp_request_error}};
  if (code == NakCode::remote_operational_error) refused.event->types.push_back(EventType::qp_fatal);
  refused.effect = [](DeviceState& state) {
    state.is_stopped = true;
    state.receives.clear();
  };
  return refused;
}

std::vector<ReceiveDone> DeviceModel::flushed_receives() const {
  std::vector<ReceiveDone> completions;
  completions.reserve(state_.receives.size());
  for (const PostedReceive& receive : state_.receives) {
    completions.push_back({.wr_id = receive.wr_id, .statuses = {CompletionStatus::flushed}});
  }
  // The receive that a request is for, or was to be for, says why; which status that is, is left to the device.
  if (!completions.empty()) completions.front().statuses = failures();
  return completions;
}

Behaviour DeviceModel::not_ready() const {
  Behaviour behaviour{.name = "RNR NAK"};
  behaviour.answers.push_back(acknowledgement(state_.expected, state_.expected, state_.msn));
  behaviour.answers.back().syndrome = AethSyndrome::rnr_nak(attributes_.rnr_timer).value();
  behaviour.effect = [](DeviceState& state) {
    come(state);
    state.is_rnr = true;
  };
  return behaviour;
}

}  // namespace roce::conform::fuzz
