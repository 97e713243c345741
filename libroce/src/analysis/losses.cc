// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <limits>

#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// The most gaps that are remembered, of requests and of responses each.
constexpr std::size_t kGaps = 1024;
// Gaps that are acknowledged stay open this long, because the two directions of a capture may be recorded with separate
// clocks or queues.
constexpr Duration kGapSettles = std::chrono::microseconds{100};
// A requester that misses a READ response which was passed asks for it again at once. If it does not within this time,
// it has the response.
constexpr Duration kReadSettles = std::chrono::milliseconds{10};

// The most responses that are believed to be lost while the requester's own packets come by. If there are more, it is
// likelier that the requester did not heed them (A-LOSS-3).
constexpr std::size_t kLostAmongRequests = 8;

// True if the response, had it arrived, would tell the requester that it need not send `psn` again.
bool speaks_for(const Response& response, LongPsn psn) {
  // A NAK acknowledges only the requests before its PSN.
  const bool refuses =
      opcode_info(response.opcode).operation == Operation::acknowledge && response.syndrome.kind() != AethKind::ack;
  return !response.is_lost && response.psn >= psn + (refuses ? 1 : 0);
}

// A-LOSS-3 (more than eight responses among the requester's own packets are not all lost)
bool are_too_many_to_be_lost(const Channel& channel, LongPsn psn) {
  std::size_t count = 0;
  Time first = Time::max();
  Time last = Time::min();
  for (std::size_t i = 0; i < channel.responses.size(); ++i) {
    const Response& response = channel.responses[i];
    if (!speaks_for(response, psn)) continue;
    ++count;
    first = std::min(first, response.time);
    last = std::max(last, response.time);
  }
  if (count <= kLostAmongRequests) return false;
  for (std::size_t i = channel.requests.size(); i-- > 0;) {
    if (channel.requests[i].last_time > first && channel.requests[i].last_time < last) return true;
  }
  return false;
}

// Reports the responses to `psn` or later as lost: had one of them arrived, `psn` would not be sent again. False if no
// response can be the reason.
bool lose_responses(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  // After a READ that was requested again or is not answered
  // completely, they may have arrived without counting.
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    const Read& read = channel.reads[i];
    if (read.end() <= psn && (read.asked > 1 || !is_complete(channel, read))) return true;
  }
  if (are_too_many_to_be_lost(channel, psn)) return true;
  const Time now = ref.packet().time;
  bool any = false;
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    Response& response = channel.responses[i];
    if (!speaks_for(response, psn)) continue;
    // It may still be on its way.
    if (channel.least_latency != Duration::max() && now - response.time < channel.least_latency) continue;
    response.is_lost = true;
    any = true;
    Verdict& verdict =
        say_later(ref.state, ref.stream, VerdictKind::response_lost_after, response.packet, response.time);
    verdict.first_psn = ref.wire(response.psn);
    verdict.other = ref.packet().id;
    ++ref.stream.summary.lost_psns;
  }
  return any;
}

void say_lost_beyond(ChannelRef ref, const Request& request, LongPsn first) {
  Verdict& verdict = say_later(ref.state, ref.stream, VerdictKind::lost_beyond, request.last, request.last_time);
  verdict.first_psn = ref.wire(first);
  verdict.psn_count = static_cast<std::uint32_t>(request.end() - first);
  verdict.other = ref.packet().id;
  ++ref.stream.summary.lost_psns;
}

// Reports that a request and those after it were not answered. The first of
// them that asked for an answer got none: it, one before it, or its answer
// was lost. If none asked for one, the one that did is not in the capture.
void say_nothing_heard(ChannelRef ref, std::size_t index) {
  const Channel& channel = ref.channel;
  const LongPsn first = channel.requests[index].psn;
  LongPsn next = first;
  // The first missing PSN from `first` on.
  LongPsn missing = std::numeric_limits<LongPsn>::max();
  for (std::size_t i = 0; i < channel.gaps.size(); ++i) {
    if (channel.gaps[i].end() > first) missing = std::min(missing, std::max(channel.gaps[i].first, first));
  }
  for (; index < channel.requests.size(); ++index) {
    const Request& request = channel.requests[index];
    // If one before it is missing, the responder discarded it even if it arrived.
    if (request.psn != next || request.psn >= missing) return;
    next = request.end();
    if (request.asks_for_ack || request.needs_own_answer()) {
      say_lost_beyond(ref, request, first);
      return;
    }
  }
}

// Reports the requests that a NAK shows not to have arrived in time, whether the requester received the NAK or not;
// true if there was one. A-LOSS-1 (seen, then asked for by a NAK: lost after the capture point).
bool say_refused(ChannelRef ref, const Restart& restart) {
  Channel& channel = ref.channel;
  bool any = false;
  for (std::size_t i = 0; i < channel.naks.size();) {
    const PendingNak nak = channel.naks[i];
    const bool is_covered = nak.packet == restart.reason || (restart.cause != Cause::nak && nak.psn >= restart.first);
    if (!is_covered) {
      ++i;
      continue;
    }
    any = true;
    if (nak.suspect && !nak.arrived_late) {
      Verdict& verdict =
          say_later(ref.state, ref.stream, VerdictKind::request_lost_after, nak.suspect, nak.suspect_time);
      verdict.first_psn = ref.wire(nak.psn);
      verdict.other = nak.packet;
      verdict.elapsed = nak.time - nak.suspect_time;
      ++ref.stream.summary.lost_psns;
    }
    channel.naks.erase(i);
  }
  return any;
}

// Reports what became of the answer to a READ or atomic that is requested again from `restart.first` on.
void lose_answer(ChannelRef ref, const Read& read, const Request& request, const Restart& restart) {
  Channel& channel = ref.channel;
  const LongPsn psn = restart.first;
  const bool is_implied = restart.cause == Cause::implied_nak;
  if (restart.cause == Cause::unknown) return;
  // The reason is older than the latest request, so it
  // does not show what became of the answer to that.
  if (is_implied && restart.reason_time < read.request_time) return;
  // Answers to the earlier request are still under way.
  const bool known = channel.least_latency != Duration::max();
  if (is_implied && read.asked > 1 && known && restart.reason_time - read.request_time < channel.least_latency / 8) {
    return;
  }
  bool came_by = false;
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    Response& response = channel.responses[i];
    if (response.psn != psn || opcode_info(response.opcode).operation == Operation::acknowledge) continue;
    came_by = true;
    if (response.time < read.request_time) continue;
    // It came after the response that made the
    // requester ask again: it was late, not lost.
    if (response.is_lost || (read.passed && response.time > read.passed_at)) return;
    response.is_lost = true;
    // If a later response followed, this one may only have been overtaken.
    const bool in_doubt = is_implied || psn + 1 < read.highest;
    const VerdictKind kind = in_doubt ? VerdictKind::response_not_in_time : VerdictKind::response_lost_after;
    Verdict& verdict = say_later(ref.state, ref.stream, kind, response.packet, response.time);
    verdict.first_psn = ref.wire(psn);
    verdict.other = ref.packet().id;
    if (!in_doubt) ++ref.stream.summary.lost_psns;
    return;
  }
  // The requester has more of the answer than when it asked last, though the answer to that has not begun. So it means
  // the answer to the request before, and this part of it came by.
  if (is_implied && came_by && psn > read.asked_psn && !read.begun) return;
  const bool executed = read.answered || read.passed;
  if (!executed) {
    if (restart.cause == Cause::timeout) say_lost_beyond(ref, request, request.psn);
    return;
  }
  // A response that was seen before the latest request may be the one that is meant, unless there was time for another
  // one.
  const bool was_seen = psn < read.highest && find_gap(channel.response_gaps, psn) == nullptr;
  if (is_implied && was_seen && known && restart.reason_time - read.request_time < channel.least_latency / 2) return;
  const Gap* const gap = find_gap(channel.response_gaps, psn);
  const PacketId about = gap != nullptr ? gap->revealed_by : read.request;
  const Time time = gap != nullptr ? gap->revealed_at : read.request_time;
  Verdict& verdict = say_later(ref.state, ref.stream, VerdictKind::response_lost_before, about, time);
  verdict.first_psn = ref.wire(psn);
  verdict.other = ref.packet().id;
  ++ref.stream.summary.lost_psns;
}

// Removes the gaps in the answer to a READ: what is requested again is not missing any more.
void drop_response_gaps(Channel& channel, const Read& read) {
  for (std::size_t i = 0; i < channel.response_gaps.size();) {
    const Gap& gap = channel.response_gaps[i];
    if (gap.first >= read.psn && gap.first < read.end()) {
      channel.response_gaps.erase(i);
    } else {
      ++i;
    }
  }
}

}  // namespace

// A-RTX-2 (a READ that is requested again may begin in its middle, where its answer ended)
void reset_read(Channel& channel, Read& read, LongPsn psn, const Observation& packet) {
  drop_response_gaps(channel, read);
  read.is_sure = read.is_sure && packet.info().operation == Operation::read_request &&
                 (psn == read.psn ? packet.dma_length == read.length : packet.dma_length < read.length);
  read.was_complete = read.was_complete || read.next_response == read.end();
  read.asked_psn = read.next_response = psn;
  ++read.asked;
  read.answered = false;
  read.begun = false;
  read.passed = false;
  read.asked_unseen = false;
  read.request = packet.id;
  read.request_time = packet.time;
}

void on_restart(ChannelRef ref, const Restart& restart) {
  Channel& channel = ref.channel;
  const bool was_refused = say_refused(ref, restart);
  if (restart.cause == Cause::nak || restart.cause == Cause::rnr) return;
  const std::size_t index = find_request(channel, restart.first);
  if (index >= channel.requests.size()) return;
  const Request& request = channel.requests[index];
  if (request.needs_own_answer()) {
    if (const Read* read = find_read(channel, restart.first)) lose_answer(ref, *read, request, restart);
  } else if (restart.cause == Cause::timeout && !lose_responses(ref, restart.first) && !was_refused) {
    say_nothing_heard(ref, index);
  }
}

namespace {

// True if the packet with a wrong ICRC that was noted for the gap has this PSN.
bool is_corrupted(const Channel& channel, const Gap& gap, LongPsn psn) {
  if (!gap.corrupted) return false;
  for (std::size_t i = 0; i < channel.corrupted.size(); ++i) {
    if (channel.corrupted[i].packet == gap.corrupted) return channel.corrupted[i].psn == psn;
  }
  return gap.count == 1;
}

}  // namespace

void resolve_gap(ChannelRef ref, RareRing<Gap>& gaps, LongPsn first, std::uint32_t count, VerdictKind kind,
                 Cause cause) {
  const LongPsn end = first + count;
  for (std::size_t i = 0; i < gaps.size();) {
    if (gaps[i].end() <= first || gaps[i].first >= end) {
      ++i;
      continue;
    }
    const Gap gap = gaps[i];
    const LongPsn from = std::max(first, gap.first);
    const LongPsn to = std::min(end, gap.end());
    const auto say = [&](VerdictKind each, Cause why, PacketId other) {
      Verdict& verdict = say_later(ref.state, ref.stream, each, gap.revealed_by, gap.revealed_at);
      verdict.cause = why;
      verdict.first_psn = ref.wire(from);
      verdict.psn_count = static_cast<std::uint32_t>(to - from);
      verdict.other = other;
      if (each == VerdictKind::request_lost_before) ref.stream.summary.lost_psns += verdict.psn_count;
      if (each == VerdictKind::missed_by_capture) ref.stream.summary.missed_psns += verdict.psn_count;
    };
    const PacketId known = gap.nak ? gap.nak : gap.acknowledged_by;
    // It was seen once, with a wrong ICRC; the transmission that arrived is another one.
    if (kind == VerdictKind::missed_by_capture && to - from == 1 && is_corrupted(ref.channel, gap, from)) {
      say(VerdictKind::request_lost_before, Cause::corrupted, gap.corrupted);
      say(kind, cause, known);
    } else {
      say(kind, cause, gap.corrupted ? gap.corrupted : known);
    }
    gaps.erase(i);
    if (to < gap.end()) {
      Gap rest = gap;
      rest.first = to;
      rest.count = static_cast<std::uint32_t>(gap.end() - to);
      gaps.insert(i, rest);
    }
    if (from > gap.first) {
      Gap rest = gap;
      rest.count = static_cast<std::uint32_t>(from - gap.first);
      gaps.insert(i, rest);
      ++i;
    }
  }
}

void limit_gaps(ChannelRef ref) {
  Channel& channel = ref.channel;
  for (RareRing<Gap>* gaps : {&channel.gaps, &channel.response_gaps}) {
    while (gaps->size() > kGaps) {
      const Gap gap = gaps->front();
      const bool is_missed = gap.acknowledged_by && !gap.of_restart;
      resolve_gap(ref, *gaps, gap.first, gap.count,
                  is_missed ? VerdictKind::missed_by_capture : VerdictKind::unexplained, Cause::unknown);
    }
  }
}

void settle(ChannelRef ref, Time now) {
  Channel& channel = ref.channel;
  while (!channel.gaps.empty()) {
    const Gap& gap = channel.gaps.front();
    if (!gap.acknowledged_by || now - gap.acknowledged_at < kGapSettles) break;
    resolve_gap(ref, channel.gaps, gap.first, gap.count,
                gap.of_restart ? VerdictKind::unexplained : VerdictKind::missed_by_capture, Cause::none);
  }
  if (!channel.read_was_passed || channel.restart.active) return;
  channel.read_was_passed = false;
  for (std::size_t i = 0; i < channel.reads.size(); ++i) {
    Read& read = channel.reads[i];
    if (!read.passed || is_complete(channel, read)) continue;
    if (now - read.passed_at < kReadSettles) {
      channel.read_was_passed = true;
    } else {
      miss_answer(ref, read);
    }
  }
}

void miss_answer(ChannelRef ref, Read& read) {
  Channel& channel = ref.channel;
  // A requester that had the whole answer before does not need this one, lost or not.
  const VerdictKind kind = read.was_complete ? VerdictKind::unexplained : VerdictKind::missed_by_capture;
  for (;;) {
    bool found = false;
    for (std::size_t i = 0; i < channel.response_gaps.size() && !found; ++i) {
      const Gap gap = channel.response_gaps[i];
      if (gap.first < read.psn || gap.first >= read.end()) continue;
      resolve_gap(ref, channel.response_gaps, gap.first, gap.count, kind, Cause::none);
      found = true;
    }
    if (!found) break;
  }
  if (read.next_response < read.end()) {
    Verdict& verdict = say_later(ref.state, ref.stream, kind, read.request, read.request_time);
    verdict.first_psn = ref.wire(read.next_response);
    verdict.psn_count = static_cast<std::uint32_t>(read.end() - read.next_response);
    verdict.other = read.passed_by;
    if (kind == VerdictKind::missed_by_capture) ref.stream.summary.missed_psns += verdict.psn_count;
    read.next_response = read.end();
  }
  acknowledge(ref, channel.newest_response + 1);
}

// A-LOSS-2 (gaps of UC have no reason that can be seen)
void finish_channel(ChannelRef ref) {
  Channel& channel = ref.channel;
  settle_filled(ref, channel.filled->first + 1);
  while (!channel.gaps.empty()) {
    const Gap gap = channel.gaps.front();
    resolve_gap(ref, channel.gaps, gap.first, gap.count,
                gap.acknowledged_by && !gap.of_restart ? VerdictKind::missed_by_capture : VerdictKind::unexplained,
                Cause::unknown);
  }
  while (!channel.response_gaps.empty()) {
    const Gap gap = channel.response_gaps.front();
    resolve_gap(ref, channel.response_gaps, gap.first, gap.count, VerdictKind::unexplained, Cause::unknown);
  }
  for (std::size_t i = channel.settled; i < channel.requests.size() && channel.responses_seen; ++i) {
    const Request& request = channel.requests[i];
    if (request.acknowledged) continue;
    if (request.transmissions > 1 && !channel.refused) {
      Verdict& verdict = say_later(ref.state, ref.stream, VerdictKind::no_answer, request.last, request.last_time);
      verdict.first_psn = ref.wire(request.psn);
      verdict.psn_count = request.span;
      verdict.other = request.first;
    }
    break;
  }
  finish_messages(ref);
}

}  // namespace roce::analysis
