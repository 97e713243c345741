// SPDX-License-Identifier: BSD-2-Clause
// Places each response of a READ: in the answer under way, in a gap of it, or in another answer.
#include "analysis/answer_follower.h"

#include <algorithm>

#include "analysis/heuristics.h"

namespace roce::analysis {

AnswerFollower AnswerFollower::from(LongPsn psn, LongPsn end) {
  AnswerFollower follower;
  follower.asked_psn = follower.next_response = follower.position = follower.highest = psn;
  follower.other = end;
  return follower;
}

// A-RTX-2 (a READ that is requested again may begin in its middle, where its answer ended)
void AnswerFollower::ask_again(LongPsn psn, LongPsn end) {
  was_complete = was_complete || next_response == end;
  asked_psn = next_response = psn;
  ++asked;
  state = State::awaited;
  passed = false;
  after_hole = false;
  asked_unseen = false;
}

void AnswerFollower::expect_other(LongPsn psn) {
  ++asked;
  position = highest = std::max(position, psn);
}

// A-LOSS-5 (an answer that begins in the middle of a READ, or has a newer MSN than a later one, was asked for again)
bool AnswerFollower::begins_unseen_answer(const AnswerPart& part, LongPsn first) const {
  if (!part.begins || !part.is_missing || part.psn >= position) return false;
  return (part.psn != first && part.psn != asked_psn) || part.has_newer_msn;
}

PlacedAnswer AnswerFollower::place(const AnswerPart& part, LongPsn first, LongPsn end) {
  const bool begins_latest = part.psn == asked_psn && part.begins && asked > 1 && state != State::begun;
  if (part.psn == asked_psn && part.begins) {
    state = State::begun;
  } else if (state == State::awaited && (asked == 1 || (part.psn < highest && !part.is_missing))) {
    // The rest of the answer to the request before shows nothing.
    state = State::heard;
  }
  asked_unseen = asked_unseen || begins_unseen_answer(part, first);
  // If it comes directly after those that overtook it, it belongs to the same answer; the begin of an answer that was
  // asked for belongs to that.
  const bool is_overtaken =
      part.is_missing && !asked_unseen && !begins_latest && part.since_revealed < heuristics::kAnswerOvertaken;
  const bool several_answers = (asked > 1 || passed || asked_unseen) && !is_overtaken;
  PlacedAnswer placed;
  if (part.is_older && part.psn != position) {
    // A-COPY-2, too: it belongs to what was answered before, and no answer goes on after it.
    placed.place = part.is_missing ? AnswerPlace::late : AnswerPlace::again;
    placed.is_repeated = part.psn < highest && !part.is_missing;
  } else if (part.is_missing && part.psn > position + 1 && part.since_revealed < heuristics::kAnswerOvertaken) {
    // The answer before left it out; this one has begun, and would go on at `position`.
    placed.place = AnswerPlace::late;
  } else if (part.is_missing && part.psn < position && !(several_answers && part.psn == asked_psn)) {
    placed.place = AnswerPlace::late;
    placed.several_answers = several_answers;
  } else {
    placed = advance(part.psn, end, several_answers);
    placed.is_repeated = part.psn < highest && !part.is_missing;
    highest = std::max(highest, part.psn + 1);
  }
  // The responder begins an answer once it has sent all of the one before; packets at the border may change places.
  if (state == State::begun && asked == 2 && placed.place == AnswerPlace::in_order && part.psn > asked_psn) other = end;
  if (part.psn == next_response) ++next_response;
  return placed;
}

// Moves the two positions on to after `psn`.
PlacedAnswer AnswerFollower::advance(LongPsn psn, LongPsn end, bool several_answers) {
  const bool has_other = several_answers && other < end;
  PlacedAnswer placed{AnswerPlace::again, false, several_answers, 0};
  if (has_other && psn == other) {
    ++other;
  } else if (psn == position) {
    placed.place = AnswerPlace::in_order;
    ++position;
  } else if (psn < position) {
    // Another answer begins.
    other = position;
    position = psn + 1;
  } else if (has_other && psn < other) {
    position = psn + 1;
  } else {
    placed.place = AnswerPlace::gap;
    placed.gap_begin = has_other ? std::max(other, position) : position;
    if (next_response == placed.gap_begin) next_response = psn;
    position = psn + 1;
    if (has_other) other = end;
  }
  return placed;
}

}  // namespace roce::analysis
