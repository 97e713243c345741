// SPDX-License-Identifier: BSD-2-Clause
// Requests that were sent again after silence: were they or their answers lost, or was the responder only late?
#include <algorithm>

#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// More answers than can be asked for.
constexpr std::uint32_t kMany = 1U << 24U;

// Reports the loss of the oldest request in doubt, unless its answer was only late.
void settle_oldest(ChannelRef ref) {
  const Doubt doubt = ref.channel.doubts.front();
  ref.channel.doubts.pop_front();
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
  if (doubts.size() >= heuristics::kDoubtsKept) settle_oldest(ref);
  Doubt doubt;
  doubt.packet = request.last;
  doubt.time = request.last_time;
  doubt.sent_again = ref.packet().id;
  doubt.first = first;
  doubt.end = std::max(ref.channel.next, ref.channel.next_max);
  doubt.psn_count = request.lacks_length ? 1 : static_cast<std::uint32_t>(request.end() - first);
  doubts.push_back(doubt);
}

void count_asked(ChannelRef ref, LongPsn psn) {
  // Soft-RoCE acknowledges each duplicate, whether it asks for that or not.
  RareRing<Doubt>& doubts = ref.channel.doubts;
  for (std::size_t i = 0; i < doubts.size(); ++i) {
    if (psn >= doubts[i].first && psn < doubts[i].end) ++doubts[i].asked;
  }
}

void count_answer(ChannelRef ref, LongPsn psn) {
  RareRing<Doubt>& doubts = ref.channel.doubts;
  // A responder answers in order: nothing that was sent before is answered after it.
  while (!doubts.empty() && psn >= doubts.front().end) settle_oldest(ref);
  if (!is_answer(ref.packet())) return;
  for (std::size_t i = 0; i < doubts.size(); ++i) {
    // A-CUT-4 (nothing is said of what may have been in a super-frame that was cut)
    if (psn >= doubts[i].first) doubts[i].answers += ref.state.is_several ? kMany : 1;
  }
}

void settle_doubts(ChannelRef ref) {
  while (!ref.channel.doubts.empty()) settle_oldest(ref);
}

}  // namespace roce::analysis
