// SPDX-License-Identifier: BSD-2-Clause
// Explains the fate of a packet, and why one was sent again. Each choice between copy, disorder, retransmission and
// loss is a row of the table in explain.cc; the functions that ask collect the evidence and apply what they are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "roce/analysis/verdict.h"

namespace roce::analysis {

/// A choice to be made. Each has rows of its own in the table.
enum class Question : std::uint8_t {
  copied_request,    ///< a request has a PSN that was seen: is it the same transmission?
  copied_response,   ///< a response has the bits of one that was seen: is it the same transmission?
  maker_of_copy,     ///< who made a copy?
  request_ahead,     ///< a request newer than all others comes while a go-back is under way: was it overtaken by that?
  repeated_request,  ///< another transmission of a request that was seen: sent again, or overtaken?
  left_out_request,  ///< a request that its go-back had left out was sent again: was it lost?
  missing_request,   ///< a request that was missing comes: sent again, or overtaken?
  doubtful_request,  ///< the request after one that was sent again or overtaken: which of the two was it?
  open_gap,          ///< no packet has come for a gap, and none is expected any more
  arrived_unseen,    ///< the responder has a missing request: was a damaged transmission of it seen?
  jump,              ///< a go-back left out PSNs; the current packet may be the one that it left out first
  going_back,        ///< why does the requester send again?
  refused_request,   ///< the requester goes back to a PSN that a NAK named: was that request lost?
  refused_and_answered,  ///< a request that a NAK named was sent again, and is answered now: was it lost before?
  acknowledged_again,    ///< a PSN that a NAK named is acknowledged, although it was not sent again
  unanswered_request,    ///< a request is sent again after a timeout
  unanswered_read,       ///< a READ or atomic is requested again
  doubted_request,       ///< the answers to what was sent again after silence have come: was anything lost?
  late_answer,           ///< a READ response that was missing comes
  old_ack,               ///< an ACK acknowledges nothing new
  requested_gap,         ///< part of an answer is missing, and the READ is requested again for this or another reason
  passed_answer,         ///< the requester goes on without a READ response that was not seen
  end_of_capture,        ///< a request has no answer when its channel ends
  count
};

/// Something that is known when a question is asked. Facts that do not belong to the question are ignored.
enum class Fact : std::uint8_t {
  // A packet and those before it.
  begins_there,       ///< it begins at the PSN of the earlier one; false for the rest of a READ
  has_same_bits,      ///< it has the ICRC of the earlier one
  bits_would_differ,  ///< a retransmission would have another ICRC (IP identification) or the same hop limit
  follows_directly,   ///< it comes directly after the earlier one
  was_asked_for,      ///< a NAK, explicit or implied, has asked for it
  responder_spoke,    ///< the responder has sent something since the earlier one
  ids_count,          ///< the sender counts IP identifications up, so that they show the order of sending
  is_older,           ///< by its IP identification it was sent before a packet that was seen
  was_sent_last,   ///< by its IP identification it was sent after all transmissions of its PSN that were seen; an ACK:
                   ///< after all that were seen
  was_sent_first,  ///< by its IP identification it was sent before all transmissions of its PSN that were seen
  was_under_way,   ///< it was on its way when the requester went back
  is_first,        ///< it is the first transmission
  was_seen,        ///< the transmission in question passed the capture point
  was_sent_once,   ///< it answers a READ that was requested once
  // The copies of a flow.
  few_packets,
  many_copies,
  // A go-back.
  missed_its_turn,   ///< it was last sent before the go-back, which has passed its PSN
  is_of_go_back,     ///< its PSN is one that the go-back sends
  is_ahead,          ///< its PSN is after all that the go-back has sent
  is_near,           ///< its PSN is near enough to the newest for an overtaken packet
  is_soon,           ///< it comes soon enough for an overtaken packet, or too soon for a retransmission
  goes_on_there,     ///< it is the first PSN that the go-back left out with its latest packet
  after_timeout,     ///< the go-back has no other reason than a timeout, or there was time for one
  nak_for_it_alone,  ///< a NAK named it, and no go-back is under way
  // Later packets.
  is_acknowledged,
  is_given_up,    ///< the gap is resolved for lack of room or because the capture ends
  is_unreliable,  ///< the connection is one of UC
  was_damaged,    ///< one transmission was seen with a wrong ICRC
  comes_again,    ///< the request after it has the same PSN
  next_is_new,    ///< the request after it is newer than all before
  arrived_late,   ///< it was acknowledged although it was not sent again
  is_refused,     ///< a NAK for an error ended the connection, or a NAK named a later PSN
  // Responses.
  rnr_was_sent,       ///< an RNR NAK asked for a wait
  was_passed,         ///< a later response passed the READ
  later_was_nacked,   ///< a NAK named a PSN after the READ
  later_part_seen,    ///< a later response of the same READ was seen
  may_not_count,      ///< an earlier READ may be unanswered: responses after it are ignored then
  too_many_to_lose,   ///< more responses than are lost together (A-LOSS-3)
  is_being_answered,  ///< a response that covers it has passed the capture point, and may still be on its way
  answer_was_due,     ///< one of the requests asked for an answer, and none before it is missing
  was_answered,       ///< a response that covers it passed the capture point
  all_were_answered,  ///< more answers came than were asked for since it was sent again
  reason_is_unknown,  ///< nothing that was seen makes the requester send again
  reason_is_implied,  ///< a later response makes the requester ask again
  reason_is_old,      ///< that response came before the latest request
  reason_is_early,    ///< that response came too soon after the latest request to follow from it
  came_since,         ///< the response in question was seen after the latest request
  is_accounted_for,   ///< that response is known to be lost, or came after the one that is the reason
  is_of_old_answer,   ///< it came by, and the answer to the latest request has not begun
  was_executed,       ///< a response shows that the responder had the request
  may_be_in_old,      ///< it was seen before the latest request, and there was no time for another one
  several_answers,    ///< more than one answer to the READ may be under way
  was_complete,       ///< the READ was answered completely before
  is_newest,          ///< it has the newest PSN that was acknowledged
  was_sent_again,
};

inline constexpr std::size_t kFacts = static_cast<std::size_t>(Fact::was_sent_again) + 1;

/// The facts that are known about one question.
class Evidence {
 public:
  constexpr explicit Evidence(Question question) : question_(question) {}

  /// Notes the fact if it `holds`.
  constexpr Evidence& note(Fact fact, bool holds) {
    facts_ |= std::uint64_t{holds} << static_cast<unsigned>(fact);
    return *this;
  }
  [[nodiscard]] constexpr bool has(Fact fact) const { return (facts_ >> static_cast<unsigned>(fact) & 1U) != 0; }
  [[nodiscard]] constexpr Question question() const { return question_; }
  [[nodiscard]] constexpr std::uint64_t facts() const { return facts_; }

 private:
  Question question_;
  std::uint64_t facts_ = 0;  ///< bit `n` is the fact with the number `n`
};

/// The fate of a packet.
enum class Fate : std::uint8_t {
  unknown,             ///< nothing can be said
  copy,                ///< the packet is a copy of one that was seen
  sent_again,          ///< it is another transmission, newer than those before
  late,                ///< it was overtaken
  late_of_go_back,     ///< it was sent again, and others of its go-back overtook it
  sent_again_or_late,  ///< the next request will show which
  lost,                ///< it did not arrive
  missed,              ///< it arrived; only the capture lacks it
  damaged_and_missed,  ///< one transmission was damaged, the one that arrived was missed
};

inline constexpr VerdictKind kNoVerdict = VerdictKind::count;

/// The outcome of a row.
struct Explanation {
  Fate fate = Fate::unknown;
  VerdictKind verdict = kNoVerdict;  ///< on the packet or gap that the question is about
  Cause cause = Cause::none;
  std::string_view because;  ///< the row in words
};

/// A row of the table: it answers `question` if all facts in `needs` and none in `excludes` are known.
struct ExplanationRow {
  Question question{};
  std::uint64_t needs = 0;
  std::uint64_t excludes = 0;
  Explanation outcome;

  [[nodiscard]] constexpr bool fits(const Evidence& evidence) const {
    return evidence.question() == question && (evidence.facts() & needs) == needs && (evidence.facts() & excludes) == 0;
  }
};

/// Returns the outcome of the one row that fits the evidence.
[[nodiscard]] const Explanation& explain(Evidence evidence);

/// Returns all rows, those of a question one after the other.
[[nodiscard]] std::span<const ExplanationRow> explanation_rows();

}  // namespace roce::analysis
