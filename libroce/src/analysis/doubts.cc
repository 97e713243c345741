// SPDX-License-Identifier: BSD-2-Clause
// Requests that were sent again after silence or a NAK: were they or their answers lost, or only late?
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// More answers than can be asked for.
constexpr std::uint32_t kMany = 1U << 24U;

// Reports what became of a request that a NAK named. `is_soon`: it is answered too soon after it was sent again.
void settle_refused(ChannelRef ref, const Doubt& doubt, bool is_soon) {
  const Explanation& fate = explain(
      Evidence{Question::refused_and_answered}.note(Fact::is_soon, is_soon).note(Fact::is_first, doubt.is_first));
  if (fate.verdict == kNoVerdict) return;
  Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, doubt.packet, doubt.time);
  verdict.first_psn = ref.wire(doubt.first);
  verdict.other = doubt.nak;
  if (fate.fate == Fate::lost) {
    verdict.elapsed = doubt.nak_time - doubt.time;
    note_lost_packet(ref, verdict);
  } else {
    verdict.elapsed = ref.packet().time - doubt.nak_time;
  }
}

// Returns the most that a round trip takes, as far as the capture shows. The responder sends the NAK as soon as a
// request after the one that it names arrives: the next, unless the requester paused since.
Duration most_of_round_trip(const Channel& channel, const PendingNak& nak) {
  const std::size_t next = place_of(channel, nak.psn);
  if (next >= channel.requests.size() || channel.requests[next].last_time > nak.time) return channel.least_latency;
  const Duration from_next = nak.time - channel.requests[next].last_time;
  Duration most = from_next;
  Duration previous = from_next;
  for (std::size_t i = next + 1; i < channel.requests.size() && channel.requests[i].last_time <= nak.time; ++i) {
    const Duration since = nak.time - channel.requests[i].last_time;
    if (previous - since > from_next - from_next / heuristics::kPauseLacksPart) most = since;
    previous = since;
  }
  return std::min(channel.least_latency, most);
}

// True if the current response comes sooner after the request in doubt was sent again than an answer to that can.
bool is_too_soon(ChannelRef ref, const Doubt& doubt) {
  const Duration since = ref.packet().time - doubt.again;
  const Duration round_trip = std::min(ref.channel.least_latency, doubt.round_trip);
  return round_trip != Duration::max() && since >= Duration{} && since < round_trip / heuristics::kAnswerComesAfterPart;
}

// Settles the doubts about requests up to `psn` that a NAK named: they are answered.
void answer_refused(ChannelRef ref, LongPsn psn) {
  RareRing<Doubt>& doubts = ref.channel.doubts;
  for (std::size_t i = 0; i < doubts.size();) {
    const Doubt doubt = doubts[i];
    if (!doubt.nak || psn < doubt.first) {
      ++i;
      continue;
    }
    doubts.erase(i);
    settle_refused(ref, doubt, is_too_soon(ref, doubt));
  }
}

// Reports the loss of a request in doubt, unless its answer was only late.
void settle_doubt(ChannelRef ref, std::size_t index) {
  const Doubt doubt = ref.channel.doubts[index];
  ref.channel.doubts.erase(index);
  if (doubt.nak) {
    settle_refused(ref, doubt, false);
    return;
  }
  const Explanation& fate =
      explain(Evidence{Question::doubted_request}.note(Fact::all_were_answered, doubt.answers > doubt.asked));
  if (fate.verdict == kNoVerdict) return;
  Verdict& verdict = say_later(ref.state, ref.stream, fate.verdict, doubt.packet, doubt.time);
  verdict.first_psn = ref.wire(doubt.first);
  verdict.psn_count = doubt.psn_count;
  verdict.other = doubt.sent_again;
  note_lost_packet(ref, verdict);
}

// True for a response that a request has asked for: an ACK, an RNR NAK, the first packet of an answer.
bool is_answer(const Observation& packet) {
  const OpcodeInfo& info = packet.info();
  if (info.operation != Operation::acknowledge) {
    return info.position != Position::middle && info.position != Position::last;
  }
  return packet.syndrome.kind() == AethKind::ack || packet.syndrome.kind() == AethKind::rnr_nak;
}

}  // namespace

void doubt_request(ChannelRef ref, const Request& request, LongPsn first) {
  RareRing<Doubt>& doubts = ref.channel.doubts;
  if (doubts.size() >= heuristics::kDoubtsKept) settle_doubt(ref, 0);
  Doubt doubt;
  doubt.packet = request.last;
  doubt.time = request.last_time;
  doubt.sent_again = ref.packet().id;
  doubt.first = first;
  doubt.end = std::max(ref.channel.next, ref.channel.next_max);
  doubt.psn_count = request.lacks_length ? 1 : static_cast<std::uint32_t>(request.end() - first);
  doubts.push_back(doubt);
}

void doubt_refused(ChannelRef ref, const PendingNak& nak) {
  RareRing<Doubt>& doubts = ref.channel.doubts;
  if (doubts.size() >= heuristics::kDoubtsKept) settle_doubt(ref, 0);
  Doubt doubt;
  doubt.packet = nak.suspect;
  doubt.time = nak.suspect_time;
  doubt.sent_again = ref.packet().id;
  doubt.nak = nak.packet;
  doubt.nak_time = nak.time;
  doubt.again = ref.packet().time;
  doubt.round_trip = most_of_round_trip(ref.channel, nak);
  doubt.is_first = nak.suspect_is_first;
  doubt.first = nak.psn;
  doubt.end = std::max(ref.channel.next, ref.channel.next_max);
  doubt.psn_count = 1;
  doubts.push_back(doubt);
}

void count_asked(ChannelRef ref, LongPsn psn) {
  // Soft-RoCE acknowledges each duplicate, whether it asks for that or not.
  RareRing<Doubt>& doubts = ref.channel.doubts;
  for (std::size_t i = 0; i < doubts.size(); ++i) {
    if (doubts[i].nak && psn == doubts[i].first && doubts[i].asked == 0) doubts[i].again = ref.packet().time;
    if (psn >= doubts[i].first && psn < doubts[i].end) ++doubts[i].asked;
  }
}

void count_answer(ChannelRef ref, LongPsn psn) {
  RareRing<Doubt>& doubts = ref.channel.doubts;
  const OpcodeInfo& info = ref.packet().info();
  const bool refuses = info.operation == Operation::acknowledge &&
                       (ref.packet().lacks_syndrome() || ref.packet().syndrome.kind() != AethKind::ack);
  answer_refused(ref, refuses ? psn - 1 : psn);
  // A responder answers in order: nothing that was sent before is answered after it.
  for (std::size_t i = 0; i < doubts.size();) {
    if (!doubts[i].nak && psn >= doubts[i].end) {
      settle_doubt(ref, i);
    } else {
      ++i;
    }
  }
  if (!is_answer(ref.packet())) return;
  for (std::size_t i = 0; i < doubts.size(); ++i) {
    // A-CUT-4 (nothing is said of what may have been in a super-frame that was cut)
    if (psn >= doubts[i].first) doubts[i].answers += ref.state.is_several ? kMany : 1;
  }
}

void settle_doubts(ChannelRef ref) {
  while (!ref.channel.doubts.empty()) settle_doubt(ref, 0);
}

}  // namespace roce::analysis
