// SPDX-License-Identifier: BSD-2-Clause
// Requests that do not come in order: those with a PSN that was seen, and those that were missing until now.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Undoes the jump of a go-back that goes on where it was before its latest packet: that was a stray of an earlier one.
void undo_jump(ChannelRef ref, LongPsn psn) {
  const Restart& restart = *ref.channel.restart;
  const bool goes_on_there =
      restart.active && restart.jump_from == psn && restart.jump_to > psn && ref.channel.latest == restart.jump_to;
  const Explanation& jump = explain(Evidence{Question::jump}
                                        .note(Fact::goes_on_there, goes_on_there)
                                        .note(Fact::is_near, restart.jump_to - psn <= heuristics::kOvertakingJump));
  if (jump.verdict == kNoVerdict) return;
  ref.channel.restart.make().next = psn;
  resolve_gap(ref, ref.channel.gaps, psn, static_cast<std::uint32_t>(restart.jump_to - psn), jump.verdict, jump.cause);
}

// Notes that the current packet is the latest transmission of the request.
void note_transmission(Request& request, const Observation& packet) {
  request.last = packet.id;
  request.previous_time = request.last_time;
  request.last_time = packet.time;
  request.icrc = packet.icrc;
  request.last_ip_id = packet.ip_id;
  request.has_icrc = packet.has_bits();
  request.is_cut = packet.is_cut;
  if (request.transmissions != 0xFF) ++request.transmissions;
}

Transmission latest_of(const Request& request) {
  return {request.last, request.last_time, request.acknowledged};
}

void say_out_of_order(ChannelRef ref, PacketId other, Time other_time) {
  Verdict& verdict = say_now(ref.state, ref.stream, VerdictKind::out_of_order);
  verdict.other = other;
  verdict.elapsed = ref.packet().time - other_time;
}

// Handles a packet that was overtaken: an earlier transmission than the newest one that was seen, or one of the go-back
// under way.
void on_late(ChannelRef ref, const Flow& flow, Request& request, LongPsn psn, const Explanation& late) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const bool has_order = ids_show_order(flow, packet);
  const bool is_newest =
      late.fate == Fate::late_of_go_back && !(has_order && is_older_id(packet.ip_id, request.last_ip_id));
  say_out_of_order(ref, request.last, request.last_time);
  if (late.fate == Fate::late_of_go_back) {
    // Packets of the go-back before have its cause.
    const bool is_of_before =
        channel.restart->active && request.end() != channel.restart->first && psn != channel.restart->asked_for &&
        (has_order ? is_older_id(packet.ip_id, channel.restart->begin_ip_id) : psn > channel.restart->next);
    Restart reason = *channel.restart;
    if (is_of_before) {
      reason.cause = channel.restart->before;
      reason.was_silent = reason.cause == Cause::timeout;
    } else {
      channel.restart.make().first = std::min(channel.restart->first, psn);
      channel.restart.make().begin_ip_id = packet.ip_id;
      reopen_messages(ref, *channel.restart);
    }
    say_retransmission(ref, reason, latest_of(request));
  }
  if (is_newest) {
    note_transmission(request, packet);
    count_repeat(ref, psn);
  } else if (is_older_id(packet.ip_id, request.first_ip_id)) {
    request.first_ip_id = packet.ip_id;
  }
  request.came_late = true;
  if ((is_newest || late.fate == Fate::late) && find_gap(channel.gaps, psn) != nullptr) {
    resolve_gap(ref, channel.gaps, psn, request.span, late.verdict, late.cause);
  } else if (late.fate == Fate::late && !channel.held.empty()) {
    (void)settle_late_request(ref, psn);
  }
  if (Read* read = find_read(channel, psn); read != nullptr && is_newest) reset_read(ref, *read, psn);
}

// True for a missing PSN that a NAK asked for, and for those that are sent again after it in the same go-back.
bool was_asked_for(const Channel& channel, const Gap& gap, LongPsn psn) {
  const std::size_t nak = find_nak(channel, psn);
  return (nak < channel.naks.size() && channel.naks[nak].time >= gap.revealed_at) ||
         (channel.restart->active && channel.restart->reason_time >= gap.revealed_at);
}

// Handles another transmission of a request.
void on_sent_again(ChannelRef ref, Request& request, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  const Gap* const gap = find_gap(channel.gaps, psn);
  Evidence left_out{Question::left_out_request};
  left_out.note(Fact::is_acknowledged, request.acknowledged)
      .note(Fact::was_asked_for, gap != nullptr && was_asked_for(channel, *gap, psn));
  // A READ that is requested again from its middle takes the rest of its PSNs.
  const Restart& reason = continue_restart(ref, psn, request.end(), request.last_time);
  say_retransmission(ref, reason, latest_of(request));
  if (gap != nullptr) {
    const Explanation& fate = explain(left_out.note(Fact::after_timeout, reason.cause == Cause::timeout));
    resolve_gap(ref, channel.gaps, psn, static_cast<std::uint32_t>(request.end() - psn), fate.verdict, fate.cause);
  }
  note_transmission(request, packet);
  count_repeat(ref, psn);
  request.came_late = false;
  if (Read* read = find_read(channel, psn)) {
    reset_read(ref, *read, psn);
  } else if (request.needs_own_answer() && request.psn == psn) {
    // It was forgotten when the directions were joined. Answers to the request before may be under way.
    add_read(ref, request).answer.expect_other(psn);
  }
}

// Forgets what is missing from `end` on in the gap there: the READ before may take those PSNs.
void end_gap(Channel& channel, LongPsn end) {
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    Gap& gap = channel.gaps[i];
    if (gap.end() <= end) continue;
    if (gap.first < end) {
      gap.count = static_cast<std::uint32_t>(end - gap.first);
    } else if (gap.first == end) {
      channel.gaps.erase(i);
    }
    return;
  }
}

// Returns the end of the missing PSNs from `psn` on. Responses divide gaps, but a READ takes the PSNs of several of
// them.
LongPsn end_of_gaps(const Channel& channel, LongPsn psn) {
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    if (channel.gaps[i].covers(psn)) psn = channel.gaps[i].end();
  }
  return psn;
}

// True if the missing request, which was sent again, may still come, and can be told then by its IP identification.
bool may_be_late(ChannelRef ref, const Flow& flow, const Gap& gap, LongPsn psn, std::uint32_t count) {
  if (!ids_show_order(flow, ref.packet()) || psn + count > gap.end()) return false;
  for (std::size_t i = 0; i < ref.channel.corrupted.size(); ++i) {
    if (ref.channel.corrupted[i].psn == psn) return false;
  }
  return true;
}

// Holds back the loss of the missing request that was sent again with the current packet.
void hold_missing(ChannelRef ref, LongPsn psn, std::uint32_t count) {
  RareRing<Gap>& gaps = ref.channel.gaps;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (!gaps[i].covers(psn)) continue;
    const Gap gap = gaps[i];
    hold_loss(ref, {gap.revealed_by, gap.revealed_at, gap.nak ? gap.nak : gap.acknowledged_by, ref.packet().time, psn,
                    count, false, false, false, false});
    (void)take_out(gaps, i, psn, psn + count);
    return;
  }
}

// Puts a request that was missing in its place in PSN order.
void insert(ChannelRef ref, Request& request) {
  Channel& channel = ref.channel;
  make_room(ref);
  const std::size_t at = place_of(channel, request.psn);
  if (at < channel.settled) request.acknowledged = true;
  channel.requests.insert(at, request);
  if (at < channel.settled) ++channel.settled;
  if (!request.needs_own_answer()) return;
  Read& read = add_read(ref, request);
  if (channel.has_response && channel.newest_response >= request.psn) {
    read.answer.expect_other(std::min(channel.newest_response + 1, request.end()));
  }
}

}  // namespace

Sighting on_repeated(ChannelRef ref, Flow& flow, Request& request, LongPsn psn) {
  Channel& channel = ref.channel;
  const Observation& packet = ref.packet();
  if (is_copied_request(ref, flow, request, psn)) return Sighting::copy;
  // The packets after it may belong to another connection with the same QP numbers.
  channel.order.is_known = false;
  channel.in_doubt = channel.in_doubt || (request.psn == psn && request.opcode != packet.opcode);
  undo_jump(ref, psn);
  const Explanation& repeated = explain_repeated(channel, flow, request, packet, psn);
  if (repeated.fate == Fate::sent_again) {
    on_sent_again(ref, request, psn);
  } else {
    on_late(ref, flow, request, psn, repeated);
  }
  return Sighting::transmission;
}

void on_missing(ChannelRef ref, Flow& flow, const Gap& gap, LongPsn psn) {
  Channel& channel = ref.channel;
  Request request = make_request(ref.state, psn);
  const LongPsn end = end_of_gaps(channel, psn);
  // The span of the newest READ stays as it is.
  const LongPsn next_max = channel.next_max;
  set_read_span_in(ref, request, end);
  channel.next_max = std::max(channel.next_max, next_max);
  const auto span = static_cast<std::uint32_t>(std::min<LongPsn>(request.span, end - psn));
  const std::uint32_t sure = std::min(span, request.sure_span());
  const Explanation& missing = explain_missing(channel, flow, gap, ref.packet(), psn);
  const bool may_come = missing.verdict == VerdictKind::request_lost_before && may_be_late(ref, flow, gap, psn, sure);
  const bool is_sent_again = missing.fate == Fate::sent_again || missing.fate == Fate::sent_again_or_late;
  if (missing.fate == Fate::sent_again_or_late) {
    channel.filled.make() = {true, psn, sure, missing.cause, channel.naks[find_nak(channel, psn)]};
  }
  if (is_sent_again) {
    const Transmission unseen{{}, {}, static_cast<bool>(gap.acknowledged_by)};
    const Restart& reason = continue_restart(ref, psn, psn + span, gap.revealed_at);
    say_retransmission(ref, reason, unseen);
  } else {
    request.came_late = true;
    if (missing.fate == Fate::late) say_out_of_order(ref, gap.revealed_by, gap.revealed_at);
  }
  if (may_come) {
    hold_missing(ref, psn, sure);
  } else if (missing.verdict != kNoVerdict) {
    resolve_gap(ref, channel.gaps, psn, sure, missing.verdict, missing.cause);
  }
  if (sure < span) end_gap(channel, psn + sure);
  insert(ref, request);
  // Its answer, which may have come before it, showed only a part of its PSNs.
  if (!request.span_is_guess) channel.next = std::max(channel.next, request.end());
}

void settle_filled(ChannelRef ref, LongPsn next_request) {
  Channel& channel = ref.channel;
  if (!channel.filled->active) return;
  const Filled filled = *channel.filled;
  channel.filled = {};
  // A go-back continues with the next PSN. A packet that was only late is followed by a new one, or comes once more.
  const LongPsn end = filled.first + filled.count;
  const bool comes_again = next_request == filled.first;
  const bool follows_directly =
      comes_again && ref.packet().time - channel.latest_time < heuristics::kCopyFollows / heuristics::kCopyOfGoBackPart;
  const Explanation& was = explain(Evidence{Question::doubtful_request}
                                       .note(Fact::comes_again, comes_again)
                                       .note(Fact::follows_directly, follows_directly)
                                       .note(Fact::next_is_new, next_request == channel.next && end < channel.next));
  resolve_gap(ref, channel.gaps, filled.first, filled.count, was.verdict, filled.cause);
  if (was.fate != Fate::late) return;
  channel.restart.make().active = false;
  if (comes_again) channel.naks.push_back(filled.nak);
}

}  // namespace roce::analysis
