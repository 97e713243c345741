// SPDX-License-Identifier: BSD-2-Clause
// Go-backs: where the requester begins to send again, and why.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// True if responses to later PSNs of the READ were seen since it was requested.
bool later_part_was_seen(const Channel& channel, const Read& read, LongPsn psn) {
  return read.answer.position > psn + 1 && !channel.responses.empty() &&
         channel.responses.back().time >= read.request_time;
}

// True if a requester that was asked at `since` to send again has not reacted: it was silent until its ACK timeout.
bool was_silent(const Channel& channel, Time since, Time now) {
  const Duration timeout = channel.least_timeout;
  const Duration enough = std::min(heuristics::kReactionTakes, timeout);
  return now - std::max(since, channel.latest_time) >= enough &&
         (timeout == Duration::max() || now - channel.latest_time >= timeout - timeout / heuristics::kTimeoutVariesBy);
}

// True if neither side sent anything for so long before a go-back that it can be due to an ACK timeout. An answer to
// `psn` that crosses the go-back is not a reason for it.
bool were_silent(const Channel& channel, LongPsn psn, Time now) {
  const Duration timeout = channel.least_timeout == Duration::max() ? Duration{} : channel.least_timeout;
  if (now - channel.latest_time < std::max(heuristics::kLeastTimeout, timeout / heuristics::kTimeoutLastsTimes)) {
    return false;
  }
  if (channel.responses.empty()) return true;
  const Response& latest = channel.responses.back();
  const bool answers = latest.psn >= psn && latest.syndrome.kind() == AethKind::ack;
  return answers || now - latest.time >= heuristics::kLeastTimeout;
}

// Returns why the requester would send `psn` again: because of a response, or else of a timeout. No response is the
// reason for two go-backs.
Restart reason_for(Channel& channel, LongPsn psn, Time last_sent, Time now) {
  Restart reason;
  reason.active = true;
  reason.first = reason.next = reason.asked_for = psn;
  reason.begin = now;
  // A-CUT-3 (nothing follows from a syndrome that was not captured): it may have been a NAK.
  if (channel.lacks_syndromes) {
    reason.cause = Cause::unknown;
    return reason;
  }
  const Read* const read = find_read(channel, psn);
  const std::size_t nak = find_nak(channel, psn);
  const bool is_soon = !channel.responses_seen || now - last_sent < heuristics::kLeastTimeout;
  Evidence evidence{Question::going_back};
  evidence.note(Fact::was_asked_for, nak < channel.naks.size())
      .note(Fact::rnr_was_sent, channel.rnr_waits && channel.rnr->psn <= psn)
      .note(Fact::was_passed, read != nullptr && read->answer.passed)
      .note(Fact::later_was_nacked, read != nullptr && !channel.naks.empty() && channel.naks.back().psn >= read->end())
      .note(Fact::later_part_seen, read != nullptr && later_part_was_seen(channel, *read, psn))
      .note(Fact::is_soon, is_soon);
  reason.cause = explain(evidence).cause;
  const auto because_of = [&](PacketId packet, Time time) {
    reason.reason = packet;
    reason.reason_time = time;
  };
  const auto because_of_nak = [&](const PendingNak& each) {
    because_of(each.packet, each.time);
    reason.asked_for = each.psn;
    reason.provoked_before = each.provoked_before;
  };
  if (reason.cause == Cause::nak) {
    because_of_nak(channel.naks[nak]);
  } else if (reason.cause == Cause::rnr) {
    because_of(channel.rnr->packet, channel.rnr->time);
  } else if (reason.cause == Cause::implied_nak) {
    if (evidence.has(Fact::was_passed)) {
      because_of(read->passed_by, read->passed_at);
    } else if (evidence.has(Fact::later_was_nacked)) {
      because_of_nak(channel.naks.back());
    } else {
      because_of(channel.responses.back().packet, channel.responses.back().time);
    }
  }
  // The wait that an RNR NAK asks for is the least: requesters round it up to that of their timers.
  if (reason.reason && reason.cause != Cause::rnr) reason.was_silent = was_silent(channel, reason.reason_time, now);
  if (reason.cause == Cause::timeout) reason.was_silent = were_silent(channel, psn, now);
  return reason;
}

// A-ORD-6, too.
// True if the go-back before goes on where it was, after one packet in between: that was a late one of it.
bool goes_on_before(const Restart& restart, const Observation& packet, LongPsn psn) {
  return restart.packets == 1 && psn == restart.interrupted && psn - restart.next > 1 &&
         packet.time - restart.begin < heuristics::kRequestOvertaken;
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

void say_retransmission(ChannelRef ref, const Restart& reason, const Transmission& before) {
  const Observation& packet = ref.packet();
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::retransmission);
  verdict.cause = reason.shown_cause();
  verdict.other = before.packet;
  verdict.elapsed = before.packet ? packet.time - before.time : Duration{};
  verdict.spurious = before.is_acknowledged;
  ref.stream.summary.retransmissions.add(reason.shown_cause());
  if (before.is_acknowledged) ++ref.stream.summary.spurious_retransmissions;
}

const Restart& continue_restart(ChannelRef ref, LongPsn psn, LongPsn end, Time last_sent) {
  Channel& channel = ref.channel;
  Restart& restart = channel.restart.make();
  if (!restart.active || psn < restart.next) {
    const Restart before = restart;
    restart = reason_for(channel, psn, last_sent, ref.packet().time);
    restart.interrupted = before.active ? before.next : channel.next;
    restart.before = before.active ? before.shown_cause() : Cause::unknown;
    restart.begun_by = ref.packet().id;
    restart.begin_ip_id = ref.packet().ip_id;
    if (restart.cause == Cause::timeout && restart.was_silent && channel.latest_time != Time{}) {
      channel.least_timeout = std::min(channel.least_timeout, restart.begin - channel.latest_time);
    }
    on_restart(ref, restart);
    note_attempt(ref, restart, last_sent);
    reopen_messages(ref, restart);
    channel.rnr_waits = false;
    // This go-back deals with the NAKs before its reason, too.
    while (!channel.naks.empty() && channel.naks.front().time <= restart.reason_time) channel.naks.pop_front();
  } else if (!goes_on_before(restart, ref.packet(), psn)) {
    add_gap_of_restart(ref, psn);
  }
  ++restart.packets;
  restart.next = end;
  restart.latest = ref.packet().time;
  return restart;
}

}  // namespace roce::analysis
