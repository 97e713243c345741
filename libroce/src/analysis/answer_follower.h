// SPDX-License-Identifier: BSD-2-Clause
// Follows the responses to one READ (or the one response to an atomic).
#pragma once

#include <algorithm>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::analysis {

/// A PSN that does not wrap. The value of a channel's first PSN is arbitrary.
using LongPsn = std::int64_t;

/// A response of a READ, as far as its place in the answer depends on it.
struct AnswerPart {
  LongPsn psn = 0;
  bool begins = false;         ///< it is a FIRST or an ONLY
  bool has_newer_msn = false;  ///< its MSN is newer than that of an answer to later PSNs
  bool is_missing = false;     ///< its PSN is in a gap of this answer
  bool is_older = false;       ///< it was sent before a packet that was seen, as far as that is known
  Duration since_revealed{};   ///< if it is: time since that gap was revealed
};

/// The place of a response.
enum class AnswerPlace : std::uint8_t {
  in_order,  ///< after the latest one
  late,      ///< into a gap, or it repeats a part of one that is under way
  gap,       ///< after a gap
  again      ///< to another answer to the same READ
};

/// A response that was put in its place.
struct PlacedAnswer {
  AnswerPlace place{};
  bool is_repeated = false;      ///< its PSN was answered before
  bool several_answers = false;  ///< more than one answer may be under way
  LongPsn gap_begin = 0;         ///< with a gap: its first PSN
};

/// Responses come in the order of their PSNs, but a READ that was requested again may have two answers under way: one
/// begins at a PSN that was requested, the other goes on where it was. The members are saved; they change only through
/// the functions.
struct AnswerFollower {
  /// How far the answer to the latest request has come.
  enum class State : std::uint8_t {
    awaited,  ///< no response has come since the request, or only the rest of the answer before
    heard,    ///< responses have come that may belong to an earlier request, but were repeated for some request
    begun     ///< its first packet was seen
  };

  LongPsn asked_psn = 0;      ///< first PSN of the latest request
  LongPsn next_response = 0;  ///< first PSN still missing from the answer to the latest request
  LongPsn position = 0;       ///< the PSN after the latest response, whichever request that answers
  LongPsn other = 0;        ///< where an answer to an earlier request may continue; the end if there is no such answer
  LongPsn highest = 0;      ///< the PSN after the newest response; a new request does not reset this
  std::uint32_t asked = 1;  ///< how many times the READ was requested
  State state = State::awaited;
  bool was_complete = false;  ///< it was answered completely at least once
  bool passed = false;        ///< a response to later PSNs was seen since the latest request
  bool after_hole = false;    ///< with `passed`: the responder has sent something else before that response
  bool asked_unseen = false;  ///< since the latest request, an answer began that answers a request that was not seen

  /// Returns the follower of a READ that takes the PSNs from `psn` to before `end`.
  [[nodiscard]] static AnswerFollower from(LongPsn psn, LongPsn end);
  /// Takes the next response, of a READ that takes the PSNs from `first` to before `end`.
  [[nodiscard]] PlacedAnswer place(const AnswerPart& part, LongPsn first, LongPsn end);
  /// Notes that the READ is requested again from `psn` on.
  void ask_again(LongPsn psn, LongPsn end);
  /// Notes that a request for the READ was not seen: an answer to it may continue at `psn`.
  void expect_other(LongPsn psn);
  /// Notes that the latest response was not a part of the answer, which goes on at `psn`.
  void go_on_at(LongPsn psn) {
    position = psn;
    next_response = std::min(next_response, psn);
  }
  /// Takes a response to an earlier request, which others overtook.
  void take_late(LongPsn psn) { next_response += psn == next_response ? 1 : 0; }
  /// Notes that the rest of the answer does not come any more.
  void give_up(LongPsn end) { next_response = end; }

  /// True if the responder had the latest request.
  /// A-ORD-3 (once it has executed a request, only new responses show that it got the next transmission, too)
  [[nodiscard]] bool was_executed() const { return state != State::awaited || (passed && (asked == 1 || after_hole)); }

 private:
  [[nodiscard]] bool begins_unseen_answer(const AnswerPart& part, LongPsn first) const;
  [[nodiscard]] PlacedAnswer advance(LongPsn psn, LongPsn end, bool several_answers);
};

}  // namespace roce::analysis
