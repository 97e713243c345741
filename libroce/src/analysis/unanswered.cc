// SPDX-License-Identifier: BSD-2-Clause
// Requests that do not get through: how often their requester tries, and how it ends.
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Twice the longest ACK timeout; clocks that jump make waits of any length, and below 0.
constexpr Duration kLongestWait{std::int64_t{8192} << 31U};

// Returns the exponent of the ACK timeout: the largest that the requester has always waited for. 0 if it is unknown.
// A-RTX-4 (a timeout lasts 4.096 us * 2^n, or longer)
std::uint8_t ack_timeout_of(const Attempts& attempts) {
  if (attempts.shortest == Duration::max()) return 0;
  const Duration waited = attempts.shortest + attempts.shortest / heuristics::kTimeoutTolerancePart;
  std::uint8_t exponent = 0;
  while (exponent < 31 && Duration{std::int64_t{4096} << (exponent + 1U)} <= waited) ++exponent;
  return exponent;
}

// True if the capture has packets that go back to the requester, or it is known that it would have them.
bool has_other_direction(ChannelRef ref) {
  if (ref.channel.responses_seen || ref.stream.flows[1] != nullptr) return true;
  return ref.state.peer_qpns.contains(ref.stream.flows[0]->key);
}

// True if the request, or one after it, asked for an answer.
bool answer_was_due(const Channel& channel, std::size_t index) {
  for (; index < channel.requests.size(); ++index) {
    if (channel.requests[index].asks_for_ack || channel.requests[index].needs_own_answer()) return true;
  }
  return false;
}

// True if the responder has said anything about the request, or a later one, since it was sent last: then it is not
// silent, and the capture may lack a part of the answer.
bool was_heard_since(const Channel& channel, const Request& request) {
  for (std::size_t i = channel.responses.size(); i-- > 0;) {
    const Response& response = channel.responses[i];
    if (response.packet < request.last) return false;
    if (response.psn >= request.psn) return true;
  }
  return false;
}

// Returns the index of the oldest request to which the requester has no answer; the number of requests if there is
// none.
std::size_t oldest_unanswered(const Channel& channel) {
  if (const std::optional<LongPsn> awaited = oldest_awaited(channel)) return find_request(channel, *awaited);
  std::size_t index = channel.settled;
  while (index < channel.requests.size() && channel.requests[index].acknowledged) ++index;
  return index;
}

UnansweredRequest describe(ChannelRef ref, const Request& request) {
  const Attempts& attempts = *ref.channel.attempts;
  const bool is_tried = attempts.tries != 0 && attempts.psn >= request.psn && attempts.psn < request.end();
  UnansweredRequest found;
  found.direction = ref.direction;
  found.is_one_way = !has_other_direction(ref);
  found.opcode = request.opcode;
  found.psn = ref.wire(request.psn);
  // A request that goes along with go-backs for others was not tried in vain.
  found.tries = is_tried ? attempts.tries : 1;
  found.packet = request.last;
  found.begin = is_tried ? attempts.begin : request.first_time;
  found.since = is_tried ? attempts.since : request.last_time;
  found.latest = request.last_time;
  if (is_tried) {
    found.refusals = attempts.refusals;
    found.ack_timeout = ack_timeout_of(attempts);
    found.wait = attempts.longest;
  }
  return found;
}

// True if the requester sent again though it was answered, again and again, and then fell silent: its answers get lost,
// and nothing shows that the last one did not. A-LOSS-6
bool answers_get_lost(const Channel& channel) {
  const Attempts& attempts = *channel.attempts;
  return channel.restart->active && channel.restart->first == attempts.psn &&
         attempts.answers >= heuristics::kAnswersLost && attempts.answers + 1 == attempts.tries;
}

void note(ChannelRef ref, const UnansweredRequest& found) {
  ref.stream.summary.unanswered.push_back(found);
}

// Notes a go-back to a request that is larger than any that arrived. It comes before its first packet is counted.
void count_try(ChannelRef ref, const Restart& restart) {
  const Channel& channel = ref.channel;
  DirectionSummary& counts = ref.stream.summary.directions[ref.direction];
  const std::size_t head = find_request(channel, restart.first);
  if (head >= channel.requests.size() || channel.requests[head].payload <= counts.largest_arrived) return;
  const bool is_first = !counts.larger;
  LargerRequests& larger = counts.larger.make();
  ++larger.tries;
  if (!is_first) return;
  larger.since = channel.requests[head].first_time;
  larger.again = restart.begin;
  larger.least = channel.requests[head].payload;
  for (std::size_t i = head; i < channel.requests.size(); ++i) {
    const Request& request = channel.requests[i];
    const bool is_rest = request.info().position == Position::last && request.payload < counts.full_size;
    if (request.payload <= counts.largest_arrived || is_rest) continue;
    ++larger.packets;
    larger.least = std::min<std::uint32_t>(larger.least, request.payload);
  }
}

}  // namespace

void note_attempt(ChannelRef ref, const Restart& restart, Time last_sent) {
  Channel& channel = ref.channel;
  Attempts& attempts = channel.attempts.make();
  const bool is_same = attempts.tries != 0 && attempts.psn == restart.first;
  if (!is_same) {
    attempts = {};
    attempts.psn = restart.first;
    attempts.begin = attempts.since = attempts.latest = last_sent;
    attempts.tries = 1;
  }
  ++attempts.tries;
  const Duration wait = std::clamp(restart.begin - attempts.latest, Duration{}, kLongestWait);
  attempts.latest = restart.begin;
  // After a NAK, or sooner than after any ACK timeout, it did not wait for an answer in vain.
  const Cause cause = restart.shown_cause();
  const bool is_wanted = cause == Cause::nak || cause == Cause::implied_nak;
  if (is_wanted || cause == Cause::rnr) attempts.since = restart.begin;
  const bool is_in_vain = !is_wanted && wait >= heuristics::kLeastTimeout;
  if (cause != Cause::rnr && is_in_vain) {
    DirectionSummary& silent = ref.stream.summary.directions[1 - ref.direction];
    if (++silent.unheard == 1) silent.stalls.make().asked = attempts.since;
  }
  // A requester that was refused goes back although its request arrived.
  if (cause != Cause::rnr) count_try(ref, restart);
  if (cause == Cause::rnr || is_in_vain) attempts.longest = std::max(attempts.longest, wait);
  const bool is_timeout = cause == Cause::timeout || !channel.responses_seen;
  // The timer may have been running when the request was first sent.
  if (is_timeout && attempts.tries > 2) attempts.shortest = std::min(attempts.shortest, wait);
  if (restart.likely_cause() != Cause::timeout) return;
  const std::size_t index = find_request(channel, restart.first);
  const bool was_answered = index < channel.requests.size() && channel.requests[index].acknowledged;
  if (was_answered && !oldest_awaited(channel)) ++attempts.answers;
}

void note_refusal(ChannelRef ref, LongPsn psn) {
  Channel& channel = ref.channel;
  Attempts& attempts = channel.attempts.make();
  const std::size_t index = find_request(channel, psn);
  const bool is_known = index < channel.requests.size();
  if (is_known) note_size_arrived(ref, channel.requests[index]);
  if (attempts.tries == 0 || attempts.psn != psn) {
    attempts = {};
    attempts.psn = psn;
    attempts.tries = 1;
    attempts.begin = is_known ? channel.requests[index].last_time : ref.packet().time;
    attempts.since = attempts.latest = attempts.begin;
  }
  ++attempts.refusals;
}

void report_unanswered(ChannelRef ref) {
  Channel& channel = ref.channel;
  // A-CUT-3 (nothing follows from a syndrome that was not captured): an answer to the newest request may be a NAK.
  if (channel.lacks_syndromes) return;
  const std::size_t index = oldest_unanswered(channel);
  if (index >= channel.requests.size()) {
    const std::size_t last = channel.refused || !answers_get_lost(channel)
                                 ? channel.requests.size()
                                 : find_request(channel, channel.attempts->psn);
    if (last >= channel.requests.size()) return;
    UnansweredRequest found = describe(ref, channel.requests[last]);
    found.how = Unanswered::answers_lost;
    doubt_answers(channel, channel.attempts->psn, channel.attempts->latest);
    return note(ref, found);
  }
  const Request& request = channel.requests[index];
  UnansweredRequest found = describe(ref, request);
  const bool is_refused = channel.rnr_waits && channel.rnr->psn >= request.psn && channel.rnr->psn < request.end();
  if (!is_refused && was_heard_since(channel, request)) return;
  const Explanation& fate = explain(Evidence{Question::end_of_capture}
                                        .note(Fact::was_sent_again, found.tries > 1 && found.latest > found.since)
                                        .note(Fact::rnr_was_sent, is_refused)
                                        .note(Fact::is_refused, channel.refused));
  found.how = fate.verdict == VerdictKind::never_ready ? Unanswered::not_ready
              : fate.verdict == VerdictKind::no_answer ? Unanswered::silence
                                                       : Unanswered::sent_once;
  if (found.how == Unanswered::not_ready) {
    found.latest = channel.rnr->time;
    found.wait = std::max(found.wait, channel.rnr->wait);
  }
  // One retransmission of a request that was answered, as seen here, may be the end of the capture alone.
  const bool is_certain = !request.acknowledged || found.tries > 2;
  if (fate.verdict != kNoVerdict && is_certain && !found.is_one_way) {
    Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, request.last, request.last_time);
    verdict.first_psn = found.psn;
    verdict.psn_count = request.sure_span();
    verdict.other = request.first;
    verdict.elapsed = request.last_time - request.first_time;
    verdict.direction = ref.direction;
    verdict.tries = found.how == Unanswered::not_ready ? found.refusals : found.tries;
    if (found.how == Unanswered::silence) verdict.ack_timeout = found.ack_timeout;
  }
  const bool tells_something = fate.verdict != kNoVerdict || (!found.is_one_way && answer_was_due(channel, index));
  if (!channel.refused && tells_something) note(ref, found);
}

}  // namespace roce::analysis
