// SPDX-License-Identifier: BSD-2-Clause
#include <optional>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// A copy follows its original within this time.
constexpr Duration kCopyAge = std::chrono::microseconds{2};
// An overtaken packet is late by no more than this, as long as no round trip has been seen.
constexpr Duration kOvertaken = std::chrono::microseconds{20};

}  // namespace

bool is_copy(Channel& channel, const Flow& flow, const Request& request, const Observation& packet, LongPsn psn) {
  if (!request.has_icrc || !packet.has_icrc || request.icrc != packet.icrc) return false;
  // Routers lower the hop limit, so a copy may have another one; a retransmission starts with the same.
  if (flow.ip_id_varies || request.hop_limit != packet.hop_limit) return true;
  // Equal bits may also be a retransmission. A copy comes directly after its original, and nothing has asked for it.
  if (psn != channel.latest || packet.time - request.last_time >= kCopyAge) return false;
  const std::size_t nak = find_nak(channel, psn);
  const bool is_nacked = nak < channel.naks.size() && channel.naks[nak].psn == psn;
  const bool is_refused = is_nacked || (channel.rnr_waits && channel.rnr->psn == psn);
  const Read* const read = find_read(channel, psn);
  if (is_refused || (read != nullptr && read->passed)) return false;
  // Nor has the responder sent anything since.
  return channel.responses.empty() || channel.responses.back().time <= request.last_time;
}

std::optional<bool> was_overtaken(const Flow& flow, const Observation& packet) {
  if (!flow.ip_id_varies || !packet.has_ip_id) return std::nullopt;
  return static_cast<std::int16_t>(packet.ip_id - flow.last_ip_id) < 0;
}

bool is_late_of_restart(const Channel& channel, const Flow& flow, const Request& request, const Observation& packet,
                        LongPsn psn) {
  const Restart& restart = channel.restart;
  if (restart.begin == Time{} || psn >= restart.next || request.last_time >= restart.begin) return false;
  if (const std::optional<bool> overtaken = was_overtaken(flow, packet)) return *overtaken;
  if (!restart.active || (psn < restart.first && psn != restart.asked_for)) return false;
  // No packet falls far behind.
  if (restart.next - psn > kReordering) return false;
  // A NAK has asked for it since, and it is sent once more.
  for (std::size_t i = 0; i < channel.naks.size(); ++i) {
    if (channel.naks[i].psn == psn && channel.naks[i].time >= restart.begin) return false;
  }
  const bool known = channel.least_latency != Duration::max();
  return packet.time - restart.latest < (known ? channel.least_latency : kOvertaken);
}

bool was_sent_again(const Channel& channel, const Flow& flow, const Gap& gap, const Observation& packet, LongPsn psn) {
  if (const std::optional<bool> overtaken = was_overtaken(flow, packet)) return !*overtaken;
  // The responder had it before, so this is another transmission.
  if (gap.acknowledged_by) return true;
  if (channel.restart.active && psn >= channel.restart.next) return true;
  const std::size_t nak = find_nak(channel, psn);
  return (nak < channel.naks.size() && channel.naks[nak].psn == psn) ||
         (channel.rnr_waits && channel.rnr->psn == psn) || packet.time - gap.revealed_at > kLeastTimeout;
}

Cause say_copy(ChannelRef ref, Flow& flow, PacketId of, Time time) {
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::duplicate);
  verdict.other = of;
  verdict.elapsed = ref.packet().time - time;
  // If half of all packets are seen twice, the capture made the copies: a network copies only few.
  verdict.cause = flow.packets < 8 ? Cause::unknown : flow.copies * 3 > flow.packets ? Cause::capture : Cause::network;
  ++flow.copies;
  return verdict.cause;
}

}  // namespace roce::analysis
