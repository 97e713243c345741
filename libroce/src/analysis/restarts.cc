// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Returns why the requester would send `psn` again: because of a response, or else of a timeout. No response is the
// reason for two go-backs. A-RTX-1 (it goes back to the PSN that was refused, or to the oldest unanswered).
Restart reason_for(Channel& channel, LongPsn psn, Time last_sent, Time now) {
  Restart reason;
  reason.active = true;
  reason.cause = Cause::timeout;
  reason.first = reason.next = psn;
  reason.begin = now;
  Read* const read = find_read(channel, psn);
  std::size_t nak = find_nak(channel, psn);
  if (nak < channel.naks.size()) {
    reason.cause = Cause::nak;
  } else if (channel.rnr_waits && channel.rnr->psn <= psn) {
    reason.cause = Cause::rnr;
    reason.reason = channel.rnr->packet;
    reason.reason_time = channel.rnr->time;
  } else if (read != nullptr && read->passed) {
    reason.cause = Cause::implied_nak;
    reason.reason = read->passed_by;
    reason.reason_time = read->passed_at;
  } else if (read != nullptr && !channel.naks.empty() && channel.naks.back().psn >= read->end()) {
    nak = channel.naks.size() - 1;
    reason.cause = Cause::implied_nak;
  } else if (read != nullptr && read->position > psn + 1 && !channel.responses.empty() &&
             channel.responses.back().time >= read->request_time) {
    // Later parts of its own answer were seen.
    reason.cause = Cause::implied_nak;
    reason.reason = channel.responses.back().packet;
    reason.reason_time = channel.responses.back().time;
  } else if (!channel.responses_seen || now - last_sent < kLeastTimeout) {
    reason.cause = Cause::unknown;
  }
  reason.asked_for = psn;
  if (nak < channel.naks.size()) {
    reason.asked_for = channel.naks[nak].psn;
    reason.reason = channel.naks[nak].packet;
    reason.reason_time = channel.naks[nak].time;
  }
  return reason;
}

}  // namespace

std::size_t find_nak(const Channel& channel, LongPsn psn) {
  std::size_t found = channel.naks.size();
  for (std::size_t i = channel.naks.size(); i-- > 0;) {
    if (channel.naks[i].psn == psn) return i;
    if (channel.naks[i].psn < psn && found == channel.naks.size()) found = i;
  }
  return found;
}

void say_retransmission(ChannelRef ref, const Restart& reason, PacketId before, Time before_time, bool spurious) {
  const Observation& packet = ref.packet();
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::retransmission);
  verdict.cause = reason.cause;
  verdict.other = before;
  verdict.elapsed = before ? packet.time - before_time : Duration{};
  verdict.spurious = spurious;
  ref.stream.summary.retransmissions.add(reason.cause);
  if (spurious) ++ref.stream.summary.spurious_retransmissions;
}

const Restart& continue_restart(ChannelRef ref, LongPsn psn, LongPsn end, Time last_sent) {
  Channel& channel = ref.channel;
  Restart& restart = channel.restart;
  if (!restart.active || psn < restart.next) {
    restart = reason_for(channel, psn, last_sent, ref.packet().time);
    on_restart(ref, restart);
    channel.rnr_waits = false;
    // This go-back deals with the NAKs before its reason, too.
    while (!channel.naks.empty() && channel.naks.front().time <= restart.reason_time) channel.naks.pop_front();
  } else {
    add_gap_of_restart(ref, psn);
  }
  restart.next = end;
  restart.latest = ref.packet().time;
  return restart;
}

}  // namespace roce::analysis
