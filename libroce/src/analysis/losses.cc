// SPDX-License-Identifier: BSD-2-Clause
// Missing packets, and those that are sent again: collects the evidence of their fate and reports it.
#include <algorithm>
#include <limits>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Whether NAKs are about a go-back.
enum class Naks : std::uint8_t { none, some };

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
  if (count <= heuristics::kLostAmongRequests) return false;
  for (std::size_t i = channel.requests.size(); i-- > 0;) {
    if (channel.requests[i].last_time > first && channel.requests[i].last_time < last) return true;
  }
  return false;
}

// True after a READ that was requested again or is not answered completely: responses may have arrived without
// counting.
bool may_not_count(const Channel& channel, LongPsn psn) {
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    const Read& read = channel.reads[i];
    if (read.end() <= psn && (read.answer.asked > 1 || !is_complete(channel, read))) return true;
  }
  return false;
}

// True if `psn` would not be sent again, had the response arrived; a response that may still be on its way is not
// meant.
bool would_have_stopped(const Channel& channel, const Response& response, LongPsn psn, Time now) {
  const bool is_on_its_way = channel.least_latency != Duration::max() && now - response.time < channel.least_latency;
  return speaks_for(response, psn) && !is_on_its_way;
}

bool was_answered(const Channel& channel, LongPsn psn, Time now) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    if (would_have_stopped(channel, channel.responses[i], psn, now)) return true;
  }
  return false;
}

// Counts the one packet whose loss `verdict` reports.
void note_lost_packet(ChannelRef ref, Verdict& verdict) {
  verdict.lost_packets = 1;
  ++ref.stream.summary.lost_psns;
  ++ref.stream.summary.lost_packets;
}

void lose_responses(ChannelRef ref, LongPsn psn, VerdictKind kind) {
  Channel& channel = ref.channel;
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    Response& response = channel.responses[i];
    if (!would_have_stopped(channel, response, psn, ref.packet().time)) continue;
    response.is_lost = true;
    Verdict& verdict = say_later(ref.state, ref.stream, kind, response.packet, response.time);
    verdict.first_psn = ref.wire(response.psn);
    verdict.other = ref.packet().id;
    note_lost_packet(ref, verdict);
  }
}

void say_lost_beyond(ChannelRef ref, const Request& request, LongPsn first) {
  Verdict& verdict = say_later(ref.state, ref.stream, VerdictKind::lost_beyond, request.last, request.last_time);
  verdict.first_psn = ref.wire(first);
  verdict.psn_count = request.lacks_length ? 1 : static_cast<std::uint32_t>(request.end() - first);
  verdict.other = ref.packet().id;
  note_lost_packet(ref, verdict);
}

// Returns the first request from `index` on that asked for an answer: it, one before it, or its answer was lost. Null
// if none asked for one; the request that did is not in the capture then.
const Request* first_that_asks(const Channel& channel, std::size_t index) {
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
    if (request.psn != next || request.psn >= missing) return nullptr;
    next = request.end();
    if (request.asks_for_ack || request.needs_own_answer()) return &request;
  }
  return nullptr;
}

// Reports what became of a request that is sent again after a timeout, or of the responses to it.
void lose_unanswered(ChannelRef ref, std::size_t index, LongPsn psn, Naks naks) {
  const Channel& channel = ref.channel;
  const Request* const asking = first_that_asks(channel, index);
  const Explanation& fate = explain(Evidence{Question::unanswered_request}
                                        .note(Fact::may_not_count, may_not_count(channel, psn))
                                        .note(Fact::too_many_to_lose, are_too_many_to_be_lost(channel, psn))
                                        .note(Fact::was_answered, was_answered(channel, psn, ref.packet().time))
                                        .note(Fact::is_refused, naks == Naks::some)
                                        .note(Fact::answer_was_due, asking != nullptr));
  if (fate.verdict == VerdictKind::response_lost_after) lose_responses(ref, psn, fate.verdict);
  if (fate.verdict == VerdictKind::lost_beyond) say_lost_beyond(ref, *asking, channel.requests[index].psn);
}

// Reports the requests that a NAK shows not to have arrived in time, whether the requester received the NAK or not.
// Returns whether there were such NAKs. A-LOSS-1 (seen, then asked for by a NAK: lost after the capture point).
Naks say_refused(ChannelRef ref, const Restart& restart) {
  Channel& channel = ref.channel;
  Naks naks = Naks::none;
  for (std::size_t i = 0; i < channel.naks.size();) {
    const PendingNak nak = channel.naks[i];
    const bool is_covered = nak.packet == restart.reason || (restart.cause != Cause::nak && nak.psn >= restart.first);
    if (!is_covered) {
      ++i;
      continue;
    }
    naks = Naks::some;
    const Explanation& fate = explain(Evidence{Question::refused_request}
                                          .note(Fact::was_seen, static_cast<bool>(nak.suspect))
                                          .note(Fact::arrived_late, nak.arrived_late));
    if (fate.verdict != kNoVerdict) {
      Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, nak.suspect, nak.suspect_time);
      verdict.first_psn = ref.wire(nak.psn);
      verdict.other = nak.packet;
      verdict.elapsed = nak.time - nak.suspect_time;
      note_lost_packet(ref, verdict);
    }
    channel.naks.erase(i);
  }
  return naks;
}

// Returns the index of the newest response with the PSN since `begin`, acknowledgements aside; else the number of
// responses.
std::size_t find_answer(const Channel& channel, LongPsn psn, Time begin) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    const Response& response = channel.responses[i];
    if (response.psn != psn || response.time < begin) continue;
    if (opcode_info(response.opcode).operation != Operation::acknowledge) return i;
  }
  return channel.responses.size();
}

// Collects what is known of the response at `restart.first`, for which a READ or atomic is requested again. `found`:
// the newest one since the latest request.
Evidence evidence_of_answer(Channel& channel, const Read& read, const Restart& restart, std::size_t found) {
  const LongPsn psn = restart.first;
  const AnswerFollower& answer = read.answer;
  const bool came_since = found < channel.responses.size();
  const bool came_by = find_answer(channel, psn, Time::min()) < channel.responses.size();
  const bool was_seen = psn < answer.highest && find_gap(channel.response_gaps, psn) == nullptr;
  // Without a round trip, nothing is too early.
  const bool knows_latency = channel.least_latency != Duration::max();
  const Duration since = restart.reason_time - read.request_time;
  const auto is_early = [&](int part) { return knows_latency && since < channel.least_latency / part; };
  // After a timeout, a READ that the responder may not have had is lost like one that nothing passed.
  const bool has_nothing = restart.was_silent && !came_since && !answer.was_executed();
  Evidence evidence{Question::unanswered_read};
  evidence.note(Fact::reason_is_unknown, restart.cause == Cause::unknown)
      .note(Fact::reason_is_implied, restart.cause == Cause::implied_nak && !has_nothing)
      .note(Fact::reason_is_old, since < Duration{})
      .note(Fact::reason_is_early, answer.asked > 1 && is_early(heuristics::kOldAnswersComeForPart))
      .note(Fact::came_since, came_since)
      .note(Fact::later_part_seen, psn + 1 < answer.highest)
      .note(Fact::is_of_old_answer, came_by && psn > answer.asked_psn && answer.state != AnswerFollower::State::begun)
      .note(Fact::was_executed, answer.was_executed())
      .note(Fact::may_be_in_old, was_seen && is_early(heuristics::kNewAnswerTakesPart));
  if (came_since) {
    const Response& response = channel.responses[found];
    evidence.note(Fact::is_accounted_for, response.is_lost || (answer.passed && response.time > read.passed_at));
  }
  return evidence;
}

// Reports what became of the answer to a READ or atomic that is requested again from `restart.first` on.
void lose_answer(ChannelRef ref, const Read& read, const Request& request, const Restart& restart) {
  Channel& channel = ref.channel;
  const LongPsn psn = restart.first;
  const std::size_t found = find_answer(channel, psn, read.request_time);
  const Evidence evidence = evidence_of_answer(channel, read, restart, found);
  const Explanation& fate = explain(evidence);
  if (fate.verdict == kNoVerdict) return;
  if (fate.verdict == VerdictKind::lost_beyond) {
    say_lost_beyond(ref, request, request.psn);
    return;
  }
  PacketId about = read.request;
  Time time = read.request_time;
  if (evidence.has(Fact::came_since)) {
    Response& response = channel.responses[found];
    response.is_lost = true;
    about = response.packet;
    time = response.time;
  } else if (const Gap* const gap = find_gap(channel.response_gaps, psn)) {
    about = gap->revealed_by;
    time = gap->revealed_at;
  }
  Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, about, time);
  verdict.first_psn = ref.wire(psn);
  verdict.other = ref.packet().id;
  if (fate.fate == Fate::lost) note_lost_packet(ref, verdict);
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

void reset_read(Channel& channel, Read& read, LongPsn psn, const Observation& packet) {
  drop_response_gaps(channel, read);
  read.is_sure = read.is_sure && packet.info().operation == Operation::read_request &&
                 (psn == read.psn ? packet.dma_length == read.length : packet.dma_length < read.length);
  read.answer.ask_again(psn, read.end());
  read.request = packet.id;
  read.request_time = packet.time;
}

void on_restart(ChannelRef ref, const Restart& restart) {
  Channel& channel = ref.channel;
  const Naks naks = say_refused(ref, restart);
  if (restart.cause == Cause::nak || restart.cause == Cause::rnr) return;
  const std::size_t index = find_request(channel, restart.first);
  if (index >= channel.requests.size()) return;
  const Request& request = channel.requests[index];
  if (request.needs_own_answer()) {
    if (const Read* read = find_read(channel, restart.first)) lose_answer(ref, *read, request, restart);
  } else if (restart.cause == Cause::timeout) {
    lose_unanswered(ref, index, restart.first, naks);
  }
}

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

}  // namespace

bool names_lost_before(const Channel& channel, const Observation& packet, LongPsn psn) {
  return packet.info().operation == Operation::acknowledge &&
         packet.syndrome.nak_code() == NakCode::psn_sequence_error && !channel.requests.empty() &&
         channel.requests.front().psn <= channel.first && !channel.has_response && psn < channel.requests.front().psn &&
         channel.requests.front().psn - psn <= heuristics::kMostOvertaken;
}

void limit_gaps(ChannelRef ref) {
  Channel& channel = ref.channel;
  for (RareRing<Gap>* gaps : {&channel.gaps, &channel.response_gaps}) {
    while (gaps->size() > heuristics::kGapsKept) {
      give_up_oldest(ref, *gaps);
    }
  }
}

void settle(ChannelRef ref, Time now) {
  Channel& channel = ref.channel;
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
  for (RareRing<Gap>* gaps : {&channel.gaps, &channel.response_gaps}) {
    while (!gaps->empty()) give_up_oldest(ref, *gaps);
  }
  report_unanswered(ref);
  finish_messages(ref);
}

}  // namespace roce::analysis
