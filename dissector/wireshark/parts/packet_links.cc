// SPDX-License-Identifier: BSD-2-Clause
// Links between packets: messages, windows, losses, connection set-up, congestion.
#include <algorithm>

#include "wireshark/parts/capture_analysis.h"

namespace roce::plugin {

using analysis::Observation;
using analysis::PacketRole;
using analysis::VerdictKind;

namespace {

bool contain(std::span<const analysis::Verdict> verdicts, VerdictKind kind) {
  return std::ranges::any_of(verdicts, [&](const analysis::Verdict& verdict) { return verdict.kind == kind; });
}

/// Returns the PSN before which everything has arrived, by a response to `psn`.
std::int64_t answered_end(const Observation& observation, std::int64_t psn) {
  const bool is_refusal = observation.has_aeth && observation.syndrome.kind() != AethKind::ack;
  return is_refusal ? psn : psn + 1;
}

bool carries_data(const Observation& observation) {
  const Operation operation = observation.info().operation;
  return operation == Operation::send || operation == Operation::write || operation == Operation::read_request ||
         operation == Operation::read_response;
}

}  // namespace

void CaptureAnalysis::absorb(std::uint32_t stream, std::uint32_t absorbed) {
  absorbed_by_[absorbed] = stream;
  for (const std::uint8_t direction : {std::uint8_t{0}, std::uint8_t{1}}) {
    const RequestChannel from{absorbed, direction};
    const RequestChannel to{stream, static_cast<std::uint8_t>(1U - direction)};
    // Responses of the absorbed stream lacked their requests.
    if (direction == 0) {
      spans_.move(from, to);
      windows_.move(from, to);
      loss_links_.move(from, to);
    }
    congestion_links_.move(from, to);
  }
}

RequestChannel CaptureAnalysis::channel_of(const PacketFacts& facts) const {
  const bool is_response = facts.role == PacketRole::response;
  RequestChannel channel{facts.stream, static_cast<std::uint8_t>(is_response ? 1U - facts.direction : facts.direction)};
  if (const auto found = absorbed_by_.find(facts.stream); found != absorbed_by_.end()) {
    channel = {found->second, static_cast<std::uint8_t>(1U - channel.direction)};
  }
  return channel;
}

void CaptureAnalysis::take_links(const Observation& observation, PacketFacts& facts,
                                 std::span<const analysis::Verdict> verdicts) {
  cm_links_.observe(observation);
  if (facts.stream == analysis::kNoStream || observation.icrc_bad) return;
  if (contain(verdicts, VerdictKind::duplicate)) return;
  take_congestion(observation, facts);
  const bool is_request = facts.role == PacketRole::request;
  if (!is_request && facts.role != PacketRole::response) return;
  const RequestChannel channel = channel_of(facts);
  if (contain(verdicts, VerdictKind::new_connection)) {
    spans_.forget(channel);
    windows_.forget(channel);
    loss_links_.forget(channel);
  }
  const bool is_read_response = observation.info().operation == Operation::read_response;
  if (is_request || is_read_response) spans_.observe(channel, facts.relative_psn, observation);
  if (is_request) {
    take_request(observation, channel, facts);
  } else {
    windows_.answer(channel, answered_end(observation, facts.relative_psn));
  }
  take_credits(observation, channel, facts);
  loss_links_.observe(channel, {observation.id, facts.relative_psn, observation.psn, verdicts});
}

void CaptureAnalysis::take_credits(const Observation& observation, RequestChannel channel, PacketFacts& facts) {
  if (facts.role == PacketRole::response) {
    // A response without an AETH, and a NAK, leave the credits as they are.
    if (!observation.has_aeth || observation.syndrome.kind() != AethKind::ack) return;
    windows_.grant(channel, facts.relative_psn, observation.syndrome.credits());
  }
  const RequestWindows::Window* const window = windows_.find(channel);
  if (window == nullptr || !window->credits) return;
  const std::uint32_t begun = spans_.begun_after(channel, window->granted_at);
  facts.credits_left = static_cast<std::uint16_t>(*window->credits - std::min(*window->credits, begun));
}

void CaptureAnalysis::take_request(const Observation& observation, RequestChannel channel, PacketFacts& facts) {
  // Requests of UC are not answered.
  if (observation.info().service == Service::uc) return;
  const bool is_read = observation.info().operation == Operation::read_request;
  const std::optional<MessageSpans::Span> span =
      is_read ? spans_.find(channel, facts.relative_psn) : std::optional<MessageSpans::Span>{};
  const std::uint32_t count = span && span->count != 0 ? span->count : 1;
  const std::uint32_t in_flight = windows_.send(channel, facts.relative_psn, count);
  // Without the path MTU, a READ's PSNs are unknown, unless they fit into the smallest one.
  constexpr std::uint32_t kLeastMtu = 256;
  const bool is_known = !is_read || (span && span->count != 0) || observation.dma_length <= kLeastMtu;
  if (is_known) facts.in_flight = in_flight;
}

void CaptureAnalysis::take_congestion(const Observation& observation, const PacketFacts& facts) {
  if (facts.role == PacketRole::cnp) {
    congestion_links_.cnp({facts.stream, static_cast<std::uint8_t>(1U - facts.direction)}, observation);
  } else if (carries_data(observation)) {
    congestion_links_.data({facts.stream, facts.direction}, observation);
  }
}

std::optional<MessagePlace> CaptureAnalysis::message_of(const PacketFacts& facts) const {
  if (facts.stream == analysis::kNoStream || facts.is_damaged) return std::nullopt;
  if (facts.role != PacketRole::request && facts.role != PacketRole::response) return std::nullopt;
  const std::optional<MessageSpans::Span> span = spans_.find(channel_of(facts), facts.relative_psn);
  if (!span) return std::nullopt;
  const PacketFacts* const first = find(span->packet);
  MessagePlace place;
  place.number = first != nullptr ? first->message : 0;
  place.first = span->packet;
  place.packet = static_cast<std::uint32_t>(facts.relative_psn - span->first + 1);
  place.packets = span->count;
  place.mtu = span->mtu;
  return place;
}

}  // namespace roce::plugin
