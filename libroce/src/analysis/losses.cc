// SPDX-License-Identifier: BSD-2-Clause
// Packets that are sent again: collects the evidence of the fate of their earlier transmissions and reports it.
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

// True if `psn` would not be sent again, had the response arrived; a response that may still be on its way is not
// meant.
bool would_have_stopped(const Channel& channel, const Response& response, LongPsn psn, Time now) {
  const bool is_on_its_way = channel.least_latency != Duration::max() && now - response.time < channel.least_latency;
  return speaks_for(response, psn) && !is_on_its_way;
}

// True if the READ was requested again, and the requester may have waited for its answer when a response for `psn`
// came.
bool was_awaited(const Channel& channel, const Read& read, LongPsn psn, Time now) {
  if (read.answer.asked == 1) return false;
  bool is_answered = false;
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    const Response& response = channel.responses[i];
    const bool is_own = opcode_info(response.opcode).operation != Operation::acknowledge;
    if (is_own && response.psn >= read.psn && response.psn < read.end()) is_answered = true;
    if (is_answered && would_have_stopped(channel, response, psn, now)) return true;
  }
  return !is_answered;
}

// True after a READ that is not answered completely, or was not when a response came: responses may have arrived
// without counting.
bool may_not_count(const Channel& channel, LongPsn psn, Time now) {
  for (std::size_t i = channel.reads.size(); i-- > 0;) {
    const Read& read = channel.reads[i];
    if (read.end() <= psn && (!is_complete(channel, read) || was_awaited(channel, read, psn, now))) return true;
  }
  return false;
}

// True if a response that was seen since the request was sent last speaks for `psn`, even if it may not have arrived
// yet.
bool was_answered_since(const Channel& channel, const Request& request, LongPsn psn) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    const Response& response = channel.responses[i];
    if (response.packet < request.last) return false;
    if (speaks_for(response, psn)) return true;
  }
  return false;
}

bool was_answered(const Channel& channel, LongPsn psn, Time now) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    if (would_have_stopped(channel, channel.responses[i], psn, now)) return true;
  }
  return false;
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

// Returns the first request from `index` on that asked for an answer: it, one before it, or its answer was lost. Null
// if none asked for one; the request that did is not in the capture then.
const Request* first_that_asks(const Channel& channel, std::size_t index) {
  const LongPsn first = channel.requests[index].psn;
  const std::uint8_t oldest_sent = channel.requests[index].transmissions;
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
    // A-LOSS-10 (each go-back sends the oldest: if it was seen less often, it was sent unseen)
    if (request.transmissions > oldest_sent) return nullptr;
    next = request.end();
    if (request.asks_for_ack || request.needs_own_answer()) return &request;
  }
  return nullptr;
}

// Reports what became of a request that is sent again after a timeout, or of the responses to it.
void lose_unanswered(ChannelRef ref, std::size_t index, LongPsn psn, Naks naks) {
  const Channel& channel = ref.channel;
  const Request* const asking = first_that_asks(channel, index);
  const bool is_being_answered = asking != nullptr && was_answered_since(channel, *asking, psn);
  const bool has_answer = was_answered(channel, psn, ref.packet().time);
  const bool has_any = has_answer || is_being_answered;
  const Explanation& fate =
      explain(Evidence{Question::unanswered_request}
                  .note(Fact::may_not_count, has_any && may_not_count(channel, psn, ref.packet().time))
                  .note(Fact::too_many_to_lose, are_too_many_to_be_lost(channel, psn))
                  .note(Fact::was_answered, has_answer)
                  .note(Fact::is_refused, naks == Naks::some)
                  .note(Fact::is_being_answered, is_being_answered)
                  .note(Fact::answer_was_due, asking != nullptr));
  if (fate.verdict == VerdictKind::response_lost_after) lose_responses(ref, psn, fate.verdict);
  if (fate.verdict == VerdictKind::lost_beyond) doubt_request(ref, *asking, channel.requests[index].psn);
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
    if (fate.verdict != kNoVerdict) doubt_refused(ref, nak);
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

// Takes a PSN out of the gaps: it has its verdict.
void close_gap(RareRing<Gap>& gaps, LongPsn psn) {
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (!gaps[i].covers(psn)) continue;
    (void)take_out(gaps, i, psn, psn + 1);
    return;
  }
}

// Reports what became of the answer to a READ or atomic that is requested again from `restart.first` on.
void lose_answer(ChannelRef ref, const Read& read, const Request& request, const Restart& restart) {
  Channel& channel = ref.channel;
  const LongPsn psn = restart.first;
  if (!channel.held.empty()) say_held_answer(ref, psn);
  const std::size_t found = find_answer(channel, psn, read.request_time);
  const Evidence evidence = evidence_of_answer(channel, read, restart, found);
  const Explanation& fate = explain(evidence);
  if (fate.verdict == kNoVerdict) return;
  if (fate.verdict == VerdictKind::lost_beyond) {
    doubt_request(ref, request, request.psn);
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
  if (fate.verdict == VerdictKind::response_lost_before) {
    hold_loss(ref,
              {about, time, ref.packet().id, ref.packet().time, psn, 1, true, read.answer.asked == 1, false, false});
  } else {
    Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, about, time);
    verdict.first_psn = ref.wire(psn);
    verdict.other = ref.packet().id;
    if (fate.fate == Fate::lost) note_lost_packet(ref, verdict);
  }
  close_gap(channel.response_gaps, psn);
}

// Ends the gaps in the answer to a READ: what is requested again is not missing any more.
void end_response_gaps(ChannelRef ref, const Read& read) {
  RareRing<Gap>& gaps = ref.channel.response_gaps;
  for (std::size_t i = 0; i < gaps.size();) {
    const Gap gap = gaps[i];
    if (gap.first < read.psn || gap.first >= read.end()) {
      ++i;
    } else if (ref.channel.lacks_lengths || ref.channel.lacks_syndromes) {
      // A-CUT-3, too: the whole packets may explain it.
      gaps.erase(i);
    } else {
      const Explanation& fate = explain(Evidence{Question::requested_gap});
      resolve_gap(ref, gaps, gap.first, gap.count, fate.verdict, fate.cause);
    }
  }
}

}  // namespace

void note_lost_packet(ChannelRef ref, Verdict& verdict) {
  verdict.lost_packets = 1;
  ++ref.stream.summary.lost_psns;
  ++ref.stream.summary.lost_packets;
}

void reset_read(ChannelRef ref, Read& read, LongPsn psn) {
  const Observation& packet = ref.packet();
  end_response_gaps(ref, read);
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

}  // namespace roce::analysis
