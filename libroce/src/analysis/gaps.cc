// SPDX-License-Identifier: BSD-2-Clause
// Gaps: packets that were not seen, until later ones explain them.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// True if the packet with a wrong ICRC is a transmission that a gap lacks: nothing with its PSN was seen since.
bool is_missing(const Channel& channel, const Gap& gap, const Corrupted& damaged) {
  if (!gap.covers(damaged.psn)) return false;
  const std::size_t index = find_request(channel, damaged.psn);
  return index >= channel.requests.size() || channel.requests[index].last < damaged.packet;
}

// Returns the newest request that was seen with a wrong ICRC and this PSN, if the gap lacks it; otherwise it is not
// set.
PacketId find_damaged(const Channel& channel, const Gap& gap, LongPsn psn) {
  for (std::size_t i = channel.corrupted.size(); i-- > 0;) {
    const Corrupted& damaged = channel.corrupted[i];
    if (damaged.psn == psn && is_missing(channel, gap, damaged)) return damaged.packet;
  }
  return {};
}

// Returns the end of the part of a gap from `first` on, before `end`, that no damaged packet divides: a damaged packet
// is a part of its own.
LongPsn end_of_part(const Channel& channel, const Gap& gap, LongPsn first, LongPsn end) {
  for (std::size_t i = 0; i < channel.corrupted.size(); ++i) {
    const Corrupted& damaged = channel.corrupted[i];
    if (!is_missing(channel, gap, damaged) || damaged.psn < first) continue;
    end = std::min(end, damaged.psn == first ? first + 1 : damaged.psn);
  }
  return end;
}

// The fate of PSNs of a gap.
struct Resolution {
  VerdictKind kind{};
  Cause cause = Cause::none;
  LongPsn first = 0;
  LongPsn end = 0;
  PacketId damaged{};    // transmission of `first` with a wrong ICRC
  bool is_rest = false;  // `first` belongs to a READ request that was reported before
};

void say_resolved(ChannelRef ref, const Gap& gap, const Resolution& part) {
  const auto say = [&](VerdictKind kind, Cause cause, PacketId other) {
    Verdict& verdict = say_later(ref.state, ref.stream, kind, gap.revealed_by, gap.revealed_at);
    verdict.cause = cause;
    verdict.first_psn = ref.wire(part.first);
    verdict.psn_count = static_cast<std::uint32_t>(part.end - part.first);
    verdict.other = other;
    if (kind == VerdictKind::request_lost_before) {
      verdict.lost_packets = part.is_rest ? 0 : 1;
      ref.stream.summary.lost_psns += verdict.psn_count;
      ref.stream.summary.lost_packets += verdict.lost_packets;
    }
    if (kind == VerdictKind::missed_by_capture) ref.stream.summary.missed_psns += verdict.psn_count;
  };
  const PacketId known = gap.nak ? gap.nak : gap.acknowledged_by;
  const bool was_damaged = static_cast<bool>(part.damaged);
  if (part.kind == VerdictKind::missed_by_capture &&
      explain(Evidence{Question::arrived_unseen}.note(Fact::was_damaged, was_damaged)).fate ==
          Fate::damaged_and_missed) {
    say(VerdictKind::request_lost_before, Cause::corrupted, part.damaged);
    say(part.kind, part.cause, known);
  } else {
    const bool is_lost = part.kind == VerdictKind::request_lost_before;
    say(part.kind, is_lost && was_damaged ? Cause::corrupted : part.cause, was_damaged ? part.damaged : known);
  }
}

}  // namespace

std::size_t take_out(RareRing<Gap>& gaps, std::size_t index, LongPsn first, LongPsn end) {
  const Gap gap = gaps[index];
  gaps.erase(index);
  if (end < gap.end()) {
    Gap rest = gap;
    rest.first = end;
    rest.count = static_cast<std::uint32_t>(gap.end() - end);
    gaps.insert(index, rest);
  }
  if (first == gap.first) return index;
  Gap rest = gap;
  rest.count = static_cast<std::uint32_t>(first - gap.first);
  gaps.insert(index, rest);
  return index + 1;
}

void resolve_gap(ChannelRef ref, RareRing<Gap>& gaps, LongPsn first, std::uint32_t count, VerdictKind kind,
                 Cause cause) {
  const LongPsn end = first + count;
  const bool are_requests = &gaps == &ref.channel.gaps;
  for (std::size_t i = 0; i < gaps.size();) {
    if (gaps[i].end() <= first || gaps[i].first >= end) {
      ++i;
      continue;
    }
    const Gap gap = gaps[i];
    const LongPsn from = std::max(first, gap.first);
    const LongPsn to = std::min(end, gap.end());
    // A request that was sent again is one packet, whatever its answer takes.
    const bool is_one_packet = kind == VerdictKind::request_lost_before;
    for (Resolution part{kind, cause, from, from, {}, is_one_packet && from > first}; part.first < to;
         part.first = part.end) {
      part.damaged = are_requests ? find_damaged(ref.channel, gap, part.first) : PacketId{};
      part.end = are_requests && !is_one_packet ? end_of_part(ref.channel, gap, part.first, to) : to;
      say_resolved(ref, gap, part);
    }
    i = take_out(gaps, i, from, to);
  }
}

namespace {

Evidence evidence_of_gap(const Stream& stream, const Gap& gap) {
  return Evidence{Question::open_gap}
      .note(Fact::is_acknowledged, static_cast<bool>(gap.acknowledged_by))
      .note(Fact::is_of_go_back, gap.of_restart)
      .note(Fact::is_unreliable, stream.summary.service == Service::uc);
}

// Resolves the oldest gap by what is known of it so far.
void give_up_oldest(ChannelRef ref, RareRing<Gap>& gaps) {
  const Gap gap = gaps.front();
  const Explanation& fate = explain(evidence_of_gap(ref.stream, gap).note(Fact::is_given_up, true));
  resolve_gap(ref, gaps, gap.first, gap.count, fate.verdict, fate.cause);
}

void limit(ChannelRef ref, RareRing<Gap>& gaps) {
  while (gaps.size() > heuristics::kGapsKept) give_up_oldest(ref, gaps);
}

}  // namespace

void limit_gaps(ChannelRef ref) {
  limit(ref, ref.channel.gaps);
  limit(ref, ref.channel.response_gaps);
}

void settle(ChannelRef ref, Time now) {
  Channel& channel = ref.channel;
  if (!channel.held.empty()) settle_held(ref, now);
  while (!channel.gaps.empty()) {
    const Gap& gap = channel.gaps.front();
    if (!gap.acknowledged_by || now - gap.acknowledged_at < heuristics::kGapSettles) break;
    const Explanation& fate = explain(evidence_of_gap(ref.stream, gap));
    resolve_gap(ref, channel.gaps, gap.first, gap.count, fate.verdict, fate.cause);
  }
  if (!channel.read_was_passed || channel.restart->active) return;
  channel.read_was_passed = false;
  for (std::size_t i = 0; i < channel.reads.size(); ++i) {
    Read& read = channel.reads[i];
    if (!read.answer.passed || is_complete(channel, read)) continue;
    if (now - read.passed_at < heuristics::kReadSettles) {
      channel.read_was_passed = true;
    } else {
      miss_answer(ref, read);
    }
  }
}

void miss_answer(ChannelRef ref, Read& read) {
  Channel& channel = ref.channel;
  const Explanation& fate =
      explain(Evidence{Question::passed_answer}.note(Fact::was_complete, read.answer.was_complete));
  for (;;) {
    bool found = false;
    for (std::size_t i = 0; i < channel.response_gaps.size() && !found; ++i) {
      const Gap gap = channel.response_gaps[i];
      if (gap.first < read.psn || gap.first >= read.end()) continue;
      resolve_gap(ref, channel.response_gaps, gap.first, gap.count, fate.verdict, fate.cause);
      found = true;
    }
    if (!found) break;
  }
  if (read.answer.next_response < read.end()) {
    Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, read.request, read.request_time);
    verdict.first_psn = ref.wire(read.answer.next_response);
    verdict.psn_count = read.sure_psns(read.end() - read.answer.next_response);
    verdict.other = read.passed_by;
    if (fate.fate == Fate::missed) ref.stream.summary.missed_psns += verdict.psn_count;
    read.answer.give_up(read.end());
  }
  acknowledge(ref, channel.newest_response + 1);
}

void finish_channel(ChannelRef ref) {
  Channel& channel = ref.channel;
  settle_filled(ref, channel.filled->first + 1);
  settle_doubts(ref);
  settle_all_held(ref);
  for (RareRing<Gap>* gaps : {&channel.gaps, &channel.response_gaps}) {
    while (!gaps->empty()) give_up_oldest(ref, *gaps);
  }
  report_unanswered(ref);
  finish_messages(ref);
}

}  // namespace roce::analysis
