// SPDX-License-Identifier: BSD-2-Clause
// Connection management messages that are sent again, and what that costs.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// True if the message went between the hosts of the current packet.
bool is_between_its_hosts(const CmMessage& message, const Observation& packet) {
  const bool is_forth = message.source == packet.source && message.destination == packet.destination;
  const bool is_back = message.source == packet.destination && message.destination == packet.source;
  return message.domain == packet.domain && message.point == packet.point && (is_forth || is_back);
}

bool is_of_exchange(const CmMessage& message, const Observation& packet) {
  return message.transaction_id == packet.cm.transaction_id && is_between_its_hosts(message, packet);
}

// True if the current packet is a REQ whose sender has sent the RTU of that exchange: the identifier is used again.
bool begins_another(const TrackerState& state) {
  const Observation& packet = *state.packet;
  if (packet.cm.attribute != MadAttribute::cm_req) return false;
  return std::ranges::any_of(state.cm_messages, [&](const CmMessage& message) {
    return message.attribute == MadAttribute::cm_rtu && message.source == packet.source &&
           is_of_exchange(message, packet);
  });
}

bool is_same_message(const CmMessage& message, const Observation& packet) {
  return message.attribute == packet.cm.attribute && message.source == packet.source && is_of_exchange(message, packet);
}

CmMessage message_of(const Observation& packet) {
  CmMessage message;
  message.source = packet.source;
  message.destination = packet.destination;
  message.domain = packet.domain;
  message.transaction_id = packet.cm.transaction_id;
  message.attribute = packet.cm.attribute;
  message.point = packet.point;
  message.latest_psn = packet.psn;
  message.first = message.latest = packet.id;
  message.first_time = message.latest_time = packet.time;
  return message;
}

bool sets_up(MadAttribute attribute) {
  return attribute == MadAttribute::cm_req || attribute == MadAttribute::cm_mra || attribute == MadAttribute::cm_rep ||
         attribute == MadAttribute::cm_rtu;
}

// Reports how long the connection took that the current RTU completes, if messages of it were repeated.
void judge_setup(TrackerState& state, Stream& stream) {
  const Observation& packet = *state.packet;
  const CmMessage* request = nullptr;
  std::uint32_t repetitions = 0;
  for (const CmMessage& message : state.cm_messages) {
    if (!is_of_exchange(message, packet) || !sets_up(message.attribute)) continue;
    repetitions += message.times - 1;
    if (message.attribute == MadAttribute::cm_req && message.source == packet.source) request = &message;
  }
  if (request == nullptr || repetitions == 0) return;
  Verdict& verdict = say_now(state, stream, VerdictKind::setup_delayed);
  verdict.other = request->first;
  verdict.elapsed = packet.time - request->first_time;
  verdict.tries = repetitions;
}

}  // namespace

// A-CM-1 (a repeated message has the transaction identifier of the first, and a PSN of its own)
void follow_management(TrackerState& state, Stream& stream) {
  const Observation& packet = *state.packet;
  if (packet.cm.attribute == MadAttribute{}) return;
  if (begins_another(state)) {
    // A DREQ of the other side had an identifier of its own, which is used again, too.
    std::erase_if(state.cm_messages, [&](const CmMessage& message) { return is_between_its_hosts(message, packet); });
  }
  const auto before = std::find_if(state.cm_messages.rbegin(), state.cm_messages.rend(),
                                   [&](const CmMessage& message) { return is_same_message(message, packet); });
  if (before == state.cm_messages.rend()) {
    if (state.cm_messages.size() >= heuristics::kCmMessagesKept) state.cm_messages.pop_front();
    state.cm_messages.push_back(message_of(packet));
  } else {
    // The network or the capture made a copy.
    if (packet.psn == before->latest_psn) return;
    ++before->times;
    Verdict& verdict = say_now(state, stream, VerdictKind::cm_repeated);
    verdict.other = before->latest;
    verdict.elapsed = packet.time - before->latest_time;
    verdict.tries = before->times;
    verdict.cm_message = packet.cm.attribute;
    before->latest = packet.id;
    before->latest_time = packet.time;
    before->latest_psn = packet.psn;
  }
  if (packet.cm.attribute == MadAttribute::cm_rtu) judge_setup(state, stream);
}

}  // namespace roce::analysis
