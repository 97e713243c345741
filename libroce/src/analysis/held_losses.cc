// SPDX-License-Identifier: BSD-2-Clause
// Losses in front of the capture point that are held back until the packet can no longer be late. A-LOSS-11 (what is
// sent again may overtake the packet that it replaces).
#include "analysis/heuristics.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

namespace {

// Reports a held loss with the verdict that is now known, and forgets it.
void say_held(ChannelRef ref, std::size_t index, VerdictKind kind) {
  const HeldLoss held = ref.channel.held[index];
  ref.channel.held.erase(index);
  Verdict& verdict = say_later(ref.state, ref.stream, kind, held.about, held.time);
  verdict.first_psn = ref.wire(held.first);
  verdict.psn_count = held.count;
  verdict.other = held.other;
  if (kind != VerdictKind::request_lost_before && kind != VerdictKind::response_lost_before) return;
  verdict.lost_packets = 1;
  ref.stream.summary.lost_psns += held.count;
  ++ref.stream.summary.lost_packets;
}

void say_lost(ChannelRef ref, std::size_t index) {
  const bool is_response = ref.channel.held[index].is_response;
  say_held(ref, index, is_response ? VerdictKind::response_lost_before : VerdictKind::request_lost_before);
}

// Returns the index of the held loss of a request or response with `psn`; the number of held ones if there is none.
std::size_t find_held(const Channel& channel, LongPsn psn, bool is_response) {
  std::size_t i = channel.held.size();
  while (i > 0) {
    const HeldLoss& held = channel.held[--i];
    if (held.is_response == is_response && psn >= held.first && psn < held.first + held.count) return i;
  }
  return channel.held.size();
}

// True if the answer to the READ before it was requested again is still under way, so that what belongs to it may come.
bool is_being_answered(const Channel& channel, const Read& read, LongPsn psn, Time now) {
  if (channel.responses.empty() || read.answer.position >= read.end()) return false;
  const Response& latest = channel.responses.back();
  return latest.psn > psn && latest.psn < read.end() && now - latest.time < heuristics::kAnswerOvertaken;
}

// Decides what the response was that came with the PSN of a held loss, now that the next of its READ comes: an answer
// that has begun there goes on.
void settle_come(ChannelRef ref, const Read& read, LongPsn psn, bool begins) {
  for (std::size_t i = 0; i < ref.channel.held.size(); ++i) {
    const HeldLoss& held = ref.channel.held[i];
    if (!held.has_come || held.first < read.psn || held.first >= read.end()) continue;
    const bool goes_on = !begins && (psn == held.first + 1 || psn == held.first);
    if (goes_on) {
      say_lost(ref, i);
    } else {
      say_held(ref, i, held.is_only ? VerdictKind::reordered : VerdictKind::unexplained);
    }
    return;
  }
}

// True if the current response, with the PSN of a held loss, is the one that is held to be lost: the answer to what was
// requested again comes after the one before, has the newest MSN, and begins there once.
bool is_late_answer(ChannelRef ref, const HeldLoss& held, const Answering& answering, const Read& read, bool begins) {
  if (answering.ids_tell) return answering.is_older;
  if (begins) {
    const Ring<Response>& responses = ref.channel.responses;
    const bool is_copy = !responses.empty() && ref.packet().time - responses.back().time < heuristics::kCopyFollows;
    return answering.has_older_msn || (held.has_begun && !is_copy);
  }
  return held.has_begun || is_being_answered(ref.channel, read, answering.psn, ref.packet().time);
}

}  // namespace

void hold_loss(ChannelRef ref, const HeldLoss& held) {
  if (ref.channel.held.size() >= heuristics::kDoubtsKept) say_lost(ref, 0);
  ref.channel.held.push_back(held);
}

bool settle_late_request(ChannelRef ref, LongPsn psn) {
  const std::size_t held = find_held(ref.channel, psn, false);
  if (held >= ref.channel.held.size()) return false;
  say_held(ref, held, VerdictKind::reordered);
  return true;
}

LateAnswer settle_late_answer(ChannelRef ref, const Answering& answering, const Read& read, bool begins) {
  if (ref.channel.held.empty()) return LateAnswer::no;
  settle_come(ref, read, answering.psn, begins);
  const std::size_t index = find_held(ref.channel, answering.psn, true);
  if (index >= ref.channel.held.size()) return LateAnswer::no;
  HeldLoss& held = ref.channel.held[index];
  if (is_late_answer(ref, held, answering, read, begins)) {
    const bool is_only = held.is_only;
    say_held(ref, index, is_only ? VerdictKind::reordered : VerdictKind::unexplained);
    return is_only ? LateAnswer::yes : LateAnswer::unknown;
  }
  if (answering.ids_tell || begins) {
    held.has_begun = true;
  } else {
    held.has_come = true;
  }
  return LateAnswer::no;
}

void say_held_answer(ChannelRef ref, LongPsn psn) {
  const std::size_t index = find_held(ref.channel, psn, true);
  if (index < ref.channel.held.size()) say_lost(ref, index);
}

void settle_held(ChannelRef ref, Time now) {
  while (!ref.channel.held.empty() && now - ref.channel.held.front().since >= heuristics::kGapSettles) say_lost(ref, 0);
}

void settle_all_held(ChannelRef ref) {
  while (!ref.channel.held.empty()) say_lost(ref, 0);
}

}  // namespace roce::analysis
