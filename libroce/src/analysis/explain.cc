// SPDX-License-Identifier: BSD-2-Clause
// The table of explanations. The rows of a question exclude each other, and one of them fits whatever is known.
#include "analysis/explain.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace roce::analysis {

namespace {

using enum Fact;
using enum VerdictKind;

using Facts = std::initializer_list<Fact>;

static_assert(kFacts <= 64);

consteval std::uint64_t bits_of(Facts facts) {
  std::uint64_t bits = 0;
  for (const Fact fact : facts) bits |= std::uint64_t{1} << static_cast<unsigned>(fact);
  return bits;
}

consteval ExplanationRow row(Question question, Facts needs, Facts excludes, const Explanation& outcome) {
  return {question, bits_of(needs), bits_of(excludes), outcome};
}

constexpr std::array kRows{
    // A-COPY-1 (a copy has the ICRC and IP identification of its original)
    row(Question::copied_request, {begins_there, has_same_bits, bits_would_differ}, {},
        {Fate::copy, duplicate, Cause::none, "a retransmission would have another ICRC or hop limit"}),
    row(Question::copied_request, {begins_there, has_same_bits, follows_directly},
        {bits_would_differ, was_asked_for, responder_spoke, was_under_way},
        {Fate::copy, duplicate, Cause::none, "it follows directly, and nothing has asked for it"}),
    row(Question::copied_request, {}, {begins_there},
        {Fate::unknown, kNoVerdict, Cause::none, "it asks for the rest of a READ"}),
    row(Question::copied_request, {begins_there}, {has_same_bits},
        {Fate::unknown, kNoVerdict, Cause::none, "its bits differ"}),
    row(Question::copied_request, {begins_there, has_same_bits}, {bits_would_differ, follows_directly},
        {Fate::unknown, kNoVerdict, Cause::none, "there was time to send it again"}),
    row(Question::copied_request, {begins_there, has_same_bits, follows_directly, was_asked_for}, {bits_would_differ},
        {Fate::unknown, kNoVerdict, Cause::none, "the responder has asked for it"}),
    row(Question::copied_request, {begins_there, has_same_bits, follows_directly, responder_spoke},
        {bits_would_differ, was_asked_for},
        {Fate::unknown, kNoVerdict, Cause::none, "it may be sent again because of a response"}),
    row(Question::copied_request, {begins_there, has_same_bits, follows_directly, was_under_way},
        {bits_would_differ, was_asked_for, responder_spoke},
        {Fate::unknown, kNoVerdict, Cause::none, "the go-back before may have sent it, too"}),

    row(Question::copied_response, {bits_would_differ}, {},
        {Fate::copy, duplicate, Cause::none, "another response would have another ICRC"}),
    row(Question::copied_response, {follows_directly, was_sent_once}, {bits_would_differ},
        {Fate::copy, duplicate, Cause::none, "it follows directly, and its READ was requested once"}),
    row(Question::copied_response, {was_sent_once}, {bits_would_differ, follows_directly},
        {Fate::unknown, kNoVerdict, Cause::none, "there was time to send it again"}),
    row(Question::copied_response, {}, {bits_would_differ, was_sent_once},
        {Fate::unknown, kNoVerdict, Cause::none, "two equal responses may both have been sent"}),

    row(Question::maker_of_copy, {few_packets}, {},
        {Fate::copy, duplicate, Cause::unknown, "the flow has too few packets to tell"}),
    row(Question::maker_of_copy, {many_copies}, {few_packets},
        {Fate::copy, duplicate, Cause::capture, "all packets are seen twice"}),
    row(Question::maker_of_copy, {}, {few_packets, many_copies},
        {Fate::copy, duplicate, Cause::network, "few packets are seen twice"}),

    // A-ORD-1 (packets that were under way when the requester went back arrive among those that it sends again)
    row(Question::request_ahead, {ids_count, is_older}, {},
        {Fate::late, out_of_order, Cause::none, "identification older than that of a packet of the go-back"}),
    row(Question::request_ahead, {ids_count}, {is_older},
        {Fate::unknown, kNoVerdict, Cause::none, "identification newer than all before"}),
    row(Question::request_ahead, {was_under_way}, {ids_count},
        {Fate::late, out_of_order, Cause::none, "far ahead of the go-back, which has just begun"}),
    row(Question::request_ahead, {is_first}, {ids_count, was_under_way},
        {Fate::sent_again_or_late, kNoVerdict, Cause::none,
         "either it or the one packet of the go-back was overtaken"}),
    row(Question::request_ahead, {}, {ids_count, was_under_way, is_first},
        {Fate::unknown, kNoVerdict, Cause::none, "the requester goes on"}),

    // A-COPY-2 (a packet with an older IP identification was overtaken)
    row(Question::repeated_request, {ids_count, is_older, was_sent_last}, {},
        {Fate::late_of_go_back, reordered, Cause::none, "sent after those seen of its PSN, before a later request"}),
    row(Question::repeated_request, {ids_count, is_older, was_sent_first}, {was_sent_last},
        {Fate::late, reordered, Cause::none, "sent before those seen of its PSN"}),
    row(Question::repeated_request, {ids_count, is_older}, {was_sent_last, was_sent_first},
        {Fate::late_of_go_back, reordered, Cause::none, "sent between two that were seen of its PSN"}),
    row(Question::repeated_request, {ids_count}, {is_older},
        {Fate::sent_again, retransmission, Cause::none, "identification newer than all before"}),
    row(Question::repeated_request, {was_under_way}, {ids_count},
        {Fate::late_of_go_back, reordered, Cause::none, "it was on its way when the requester went back"}),
    row(Question::repeated_request, {}, {ids_count, was_under_way, missed_its_turn},
        {Fate::sent_again, retransmission, Cause::none, "no go-back has passed it"}),
    row(Question::repeated_request, {missed_its_turn}, {ids_count, was_under_way, is_of_go_back},
        {Fate::sent_again, retransmission, Cause::none, "the go-back does not send it"}),
    row(Question::repeated_request, {missed_its_turn, is_of_go_back}, {ids_count, was_under_way, is_near},
        {Fate::sent_again, retransmission, Cause::none, "no packet is overtaken by so many"}),
    row(Question::repeated_request, {missed_its_turn, is_of_go_back, is_near, was_asked_for},
        {ids_count, was_under_way},
        {Fate::sent_again, retransmission, Cause::none, "a NAK has asked for it since the go-back began"}),
    row(Question::repeated_request, {missed_its_turn, is_of_go_back, is_near},
        {ids_count, was_under_way, was_asked_for, is_soon},
        {Fate::sent_again, retransmission, Cause::none, "no packet is overtaken for so long"}),
    row(Question::repeated_request, {missed_its_turn, is_of_go_back, is_near, is_soon},
        {ids_count, was_under_way, was_asked_for},
        {Fate::late_of_go_back, reordered, Cause::none, "a little after its go-back has passed it"}),

    row(Question::left_out_request, {is_acknowledged}, {},
        {Fate::unknown, unexplained, Cause::none, "the responder had it before"}),
    row(Question::left_out_request, {was_asked_for}, {is_acknowledged},
        {Fate::lost, request_lost_before, Cause::none, "a NAK shows that the go-back had sent it"}),
    row(Question::left_out_request, {after_timeout}, {is_acknowledged, was_asked_for},
        {Fate::lost, request_lost_before, Cause::none, "a timeout shows that the go-back had sent it"}),
    row(Question::left_out_request, {}, {is_acknowledged, was_asked_for, after_timeout},
        {Fate::unknown, unexplained, Cause::none, "nothing has asked for it: the gap came of a stray packet"}),

    // A-LOSS-1 (not seen, then sent again: lost before; not seen, then acknowledged: missed by the capture)
    row(Question::missing_request, {ids_count, is_older}, {},
        {Fate::late, reordered, Cause::none, "identification older than that of a later request"}),
    row(Question::missing_request, {ids_count, is_acknowledged}, {is_older},
        {Fate::sent_again, missed_by_capture, Cause::none, "identification newer, and the responder had it"}),
    row(Question::missing_request, {ids_count}, {is_older, is_acknowledged},
        {Fate::sent_again, request_lost_before, Cause::none, "identification newer than all before"}),
    row(Question::missing_request, {is_acknowledged}, {ids_count},
        {Fate::sent_again, missed_by_capture, Cause::none, "the responder had it"}),
    row(Question::missing_request, {was_under_way}, {ids_count, is_acknowledged},
        {Fate::late, reordered, Cause::none, "it was on its way when the requester went back"}),
    row(Question::missing_request, {nak_for_it_alone}, {ids_count, is_acknowledged, was_under_way},
        {Fate::sent_again_or_late, kNoVerdict, Cause::none, "a NAK named it, though it may have been late"}),
    row(Question::missing_request, {is_ahead}, {ids_count, is_acknowledged, was_under_way, nak_for_it_alone},
        {Fate::sent_again, request_lost_before, Cause::none, "the go-back has come to it"}),
    row(Question::missing_request, {was_asked_for},
        {ids_count, is_acknowledged, was_under_way, nak_for_it_alone, is_ahead},
        {Fate::sent_again, request_lost_before, Cause::none, "a NAK named it in a go-back"}),
    row(Question::missing_request, {after_timeout},
        {ids_count, is_acknowledged, was_under_way, nak_for_it_alone, is_ahead, was_asked_for},
        {Fate::sent_again, request_lost_before, Cause::none, "no packet is overtaken for so long"}),
    row(Question::missing_request, {is_soon},
        {ids_count, is_acknowledged, was_under_way, nak_for_it_alone, is_ahead, was_asked_for, after_timeout},
        {Fate::late, reordered, Cause::none, "sooner than it could be sent again"}),
    // A-LOSS-4 (a round trip later it may have been sent again for a NAK that was not seen)
    row(Question::missing_request, {},
        {ids_count, is_acknowledged, was_under_way, nak_for_it_alone, is_ahead, was_asked_for, after_timeout, is_soon},
        {Fate::unknown, unexplained, Cause::none, "late, or sent again for a NAK that was not seen"}),

    row(Question::doubtful_request, {comes_again, follows_directly}, {},
        {Fate::lost, request_lost_before, Cause::none, "it comes again at once, as a copy does"}),
    row(Question::doubtful_request, {comes_again}, {follows_directly},
        {Fate::late, reordered, Cause::none, "it comes again: only now does the requester go back"}),
    row(Question::doubtful_request, {next_is_new}, {comes_again},
        {Fate::late, reordered, Cause::none, "the requester does not go on where a go-back would"}),
    row(Question::doubtful_request, {}, {comes_again, next_is_new},
        {Fate::lost, request_lost_before, Cause::none, "the requester goes on with the go-back"}),

    row(Question::open_gap, {is_acknowledged}, {is_of_go_back, is_given_up},
        {Fate::missed, missed_by_capture, Cause::none, "the responder had it"}),
    row(Question::open_gap, {is_acknowledged, is_given_up}, {is_of_go_back},
        {Fate::missed, missed_by_capture, Cause::unknown, "the responder had it; no room or time to wait longer"}),
    row(Question::open_gap, {is_acknowledged, is_of_go_back}, {is_given_up},
        {Fate::unknown, unexplained, Cause::none, "the responder had it, but from which transmission?"}),
    row(Question::open_gap, {is_acknowledged, is_of_go_back, is_given_up}, {},
        {Fate::unknown, unexplained, Cause::unknown, "as before; no room or time to wait longer"}),
    // A-LOSS-2 (UC has neither acknowledgements nor repetitions)
    row(Question::open_gap, {is_unreliable}, {is_acknowledged},
        {Fate::lost, lost_for_good, Cause::unknown, "nobody repeats it; the capture may have missed it"}),
    row(Question::open_gap, {}, {is_acknowledged, is_unreliable},
        {Fate::unknown, unexplained, Cause::unknown, "nothing was heard of it"}),

    row(Question::arrived_unseen, {was_damaged}, {},
        {Fate::damaged_and_missed, missed_by_capture, Cause::corrupted,
         "two transmissions: one damaged, one not seen"}),
    row(Question::arrived_unseen, {}, {was_damaged},
        {Fate::missed, missed_by_capture, Cause::none, "no transmission was seen"}),

    row(Question::jump, {goes_on_there}, {is_near},
        {Fate::unknown, unexplained, Cause::none, "the go-back goes on: the packet before was a stray"}),
    row(Question::jump, {goes_on_there, is_near}, {},
        {Fate::unknown, kNoVerdict, Cause::none, "the packet before may have overtaken it"}),
    row(Question::jump, {}, {goes_on_there}, {Fate::unknown, kNoVerdict, Cause::none, "the go-back made no such jump"}),

    // A-RTX-1 (the requester goes back to the PSN that was refused, or after a timeout to the oldest unanswered)
    row(Question::going_back, {was_asked_for}, {},
        {Fate::sent_again, retransmission, Cause::nak, "a NAK named it or a PSN before it"}),
    row(Question::going_back, {rnr_was_sent}, {was_asked_for},
        {Fate::sent_again, retransmission, Cause::rnr, "an RNR NAK named it or a PSN before it"}),
    row(Question::going_back, {was_passed}, {was_asked_for, rnr_was_sent},
        {Fate::sent_again, retransmission, Cause::implied_nak, "a response passed the READ"}),
    row(Question::going_back, {later_was_nacked}, {was_asked_for, rnr_was_sent, was_passed},
        {Fate::sent_again, retransmission, Cause::implied_nak, "a NAK passed the READ"}),
    row(Question::going_back, {later_part_seen}, {was_asked_for, rnr_was_sent, was_passed, later_was_nacked},
        {Fate::sent_again, retransmission, Cause::implied_nak, "a later part of the READ's answer passed it"}),
    // A-RTX-3 (no ACK timeout in use is below 300 us)
    row(Question::going_back, {is_soon}, {was_asked_for, rnr_was_sent, was_passed, later_was_nacked, later_part_seen},
        {Fate::sent_again, retransmission, Cause::unknown, "too soon for a timeout, or no responses in the capture"}),
    row(Question::going_back, {}, {was_asked_for, rnr_was_sent, was_passed, later_was_nacked, later_part_seen, is_soon},
        {Fate::sent_again, retransmission, Cause::timeout, "nothing else was seen"}),

    row(Question::refused_request, {was_seen}, {arrived_late},
        {Fate::lost, request_lost_after, Cause::none, "seen, and then named by a NAK; the next answer may tell"}),
    row(Question::refused_request, {was_seen, arrived_late}, {},
        {Fate::unknown, kNoVerdict, Cause::none, "it was acknowledged since"}),
    row(Question::refused_request, {}, {was_seen},
        {Fate::unknown, kNoVerdict, Cause::none, "the transmission that did not arrive was not seen"}),

    // A-LOSS-9 (an answer that comes sooner than one to a retransmission can is to the transmission before)
    row(Question::refused_and_answered, {}, {is_soon},
        {Fate::lost, request_lost_after, Cause::none, "named by a NAK, and answered after it was sent again"}),
    row(Question::refused_and_answered, {is_soon, is_first}, {},
        {Fate::late, request_late_after, Cause::none, "answered sooner than what was sent again can be"}),
    row(Question::refused_and_answered, {is_soon}, {is_first},
        {Fate::late, kNoVerdict, Cause::none, "answered too soon, but several transmissions were under way"}),

    row(Question::acknowledged_again, {was_seen, is_first, is_soon}, {},
        {Fate::late, request_late_after, Cause::none, "sooner than a retransmission could be answered"}),
    row(Question::acknowledged_again, {was_seen, is_first}, {is_soon},
        {Fate::unknown, kNoVerdict, Cause::none, "a retransmission that was not seen may have arrived"}),
    row(Question::acknowledged_again, {was_seen}, {is_first},
        {Fate::unknown, kNoVerdict, Cause::none, "it may be another transmission that arrived"}),
    row(Question::acknowledged_again, {}, {was_seen},
        {Fate::unknown, kNoVerdict, Cause::none, "the transmission that did not arrive in time was not seen"}),

    row(Question::unanswered_request, {may_not_count}, {},
        {Fate::unknown, kNoVerdict, Cause::none, "after an unanswered READ, responses arrive without counting"}),
    // A-LOSS-3 (more than eight responses among the requester's own packets are not all lost)
    row(Question::unanswered_request, {too_many_to_lose}, {may_not_count},
        {Fate::unknown, kNoVerdict, Cause::none, "the requester ignored the responses"}),
    row(Question::unanswered_request, {was_answered}, {may_not_count, too_many_to_lose},
        {Fate::lost, response_lost_after, Cause::none, "had a response arrived, it would not be sent again"}),
    row(Question::unanswered_request, {is_refused}, {may_not_count, too_many_to_lose, was_answered},
        {Fate::unknown, kNoVerdict, Cause::none, "a NAK explains it"}),
    row(Question::unanswered_request, {is_being_answered}, {may_not_count, too_many_to_lose, was_answered, is_refused},
        {Fate::unknown, kNoVerdict, Cause::none, "the answer crosses what is sent again"}),
    row(Question::unanswered_request, {answer_was_due},
        {may_not_count, too_many_to_lose, was_answered, is_refused, is_being_answered},
        {Fate::lost, lost_beyond, Cause::none, "an answer was due, and none was seen"}),
    row(Question::unanswered_request, {},
        {may_not_count, too_many_to_lose, was_answered, is_refused, is_being_answered, answer_was_due},
        {Fate::unknown, kNoVerdict, Cause::none, "the request that asked for an answer was not seen"}),

    row(Question::unanswered_read, {reason_is_unknown}, {},
        {Fate::unknown, kNoVerdict, Cause::none, "nobody knows why it is requested again"}),
    row(Question::unanswered_read, {reason_is_implied, reason_is_old}, {reason_is_unknown},
        {Fate::unknown, kNoVerdict, Cause::none, "the reason is older than the latest request"}),
    row(Question::unanswered_read, {reason_is_implied, reason_is_early}, {reason_is_unknown, reason_is_old},
        {Fate::unknown, kNoVerdict, Cause::none, "answers to the request before are still under way"}),
    row(Question::unanswered_read, {reason_is_implied, came_since, is_accounted_for},
        {reason_is_unknown, reason_is_old, reason_is_early},
        {Fate::unknown, kNoVerdict, Cause::none, "known to be lost, or late and not lost"}),
    row(Question::unanswered_read, {reason_is_implied, came_since},
        {reason_is_unknown, reason_is_old, reason_is_early, is_accounted_for},
        {Fate::unknown, response_not_in_time, Cause::none, "lost, or overtaken by the response that is the reason"}),
    row(Question::unanswered_read, {reason_is_implied, is_of_old_answer},
        {reason_is_unknown, reason_is_old, reason_is_early, came_since},
        {Fate::unknown, kNoVerdict, Cause::none, "the requester means the answer before, of which this part was seen"}),
    row(Question::unanswered_read, {reason_is_implied},
        {reason_is_unknown, reason_is_old, reason_is_early, came_since, is_of_old_answer, was_executed},
        {Fate::unknown, kNoVerdict, Cause::none, "the responder may not have had the request"}),
    row(Question::unanswered_read, {reason_is_implied, was_executed, may_be_in_old},
        {reason_is_unknown, reason_is_old, reason_is_early, came_since, is_of_old_answer},
        {Fate::unknown, kNoVerdict, Cause::none, "the requester may mean a response before the latest request"}),
    row(Question::unanswered_read, {reason_is_implied, was_executed},
        {reason_is_unknown, reason_is_old, reason_is_early, came_since, is_of_old_answer, may_be_in_old},
        {Fate::lost, response_lost_before, Cause::none, "passed by a later response, and not seen"}),
    row(Question::unanswered_read, {came_since, is_accounted_for}, {reason_is_unknown, reason_is_implied},
        {Fate::unknown, kNoVerdict, Cause::none, "known to be lost, or late and not lost; then a timeout"}),
    row(Question::unanswered_read, {came_since, later_part_seen},
        {reason_is_unknown, reason_is_implied, is_accounted_for},
        {Fate::unknown, response_not_in_time, Cause::none, "lost, or overtaken by a later part; then a timeout"}),
    row(Question::unanswered_read, {came_since},
        {reason_is_unknown, reason_is_implied, is_accounted_for, later_part_seen},
        {Fate::lost, response_lost_after, Cause::none, "seen, and then a timeout"}),
    row(Question::unanswered_read, {was_executed}, {reason_is_unknown, reason_is_implied, came_since},
        {Fate::lost, response_lost_before, Cause::none, "executed, its response not seen, and then a timeout"}),
    row(Question::unanswered_read, {}, {reason_is_unknown, reason_is_implied, came_since, was_executed},
        {Fate::lost, lost_beyond, Cause::none, "no response, and then a timeout"}),

    // A-LOSS-8 (a responder that answers once more than it was asked again has lost nothing)
    row(Question::doubted_request, {all_were_answered}, {},
        {Fate::late, kNoVerdict, Cause::none, "its answer was only late: all transmissions were answered"}),
    row(Question::doubted_request, {}, {all_were_answered},
        {Fate::lost, lost_beyond, Cause::none, "one transmission was not answered, or several at once"}),

    row(Question::late_answer, {several_answers}, {},
        {Fate::unknown, unexplained, Cause::none, "it may belong to another answer"}),
    row(Question::late_answer, {}, {several_answers},
        {Fate::late, reordered, Cause::none, "only one answer is under way"}),

    row(Question::old_ack, {is_newest}, {}, {Fate::sent_again, duplicate_ack, Cause::none, "the newest PSN once more"}),
    // A-ORD-4 (the IP identification, else the MSN, tells a late ACK from one that answers an old request)
    row(Question::old_ack, {is_older}, {is_newest},
        {Fate::late, response_out_of_order, Cause::none, "sent before one that acknowledges more"}),
    row(Question::old_ack, {was_sent_last}, {is_newest, is_older},
        {Fate::sent_again, ghost_ack, Cause::none, "sent after one that acknowledges more"}),
    row(Question::old_ack, {was_seen}, {is_newest, is_older, was_sent_last},
        {Fate::sent_again, ghost_ack, Cause::none, "an older PSN once more"}),
    row(Question::old_ack, {}, {is_newest, is_older, was_sent_last, was_seen},
        {Fate::late, response_out_of_order, Cause::none, "an older PSN that was not seen yet"}),

    row(Question::requested_gap, {}, {},
        {Fate::unknown, unexplained, Cause::none,
         "the READ was requested again before anything showed what became of it"}),

    row(Question::passed_answer, {was_complete}, {},
        {Fate::unknown, unexplained, Cause::none, "the requester had the whole answer before"}),
    row(Question::passed_answer, {}, {was_complete},
        {Fate::missed, missed_by_capture, Cause::none, "the requester goes on, so it has the answer"}),

    row(Question::end_of_capture, {rnr_was_sent}, {is_refused},
        {Fate::unknown, never_ready, Cause::none, "an RNR NAK was the last that was heard of it"}),
    row(Question::end_of_capture, {was_sent_again}, {is_refused, rnr_was_sent},
        {Fate::lost, no_answer, Cause::none, "sent several times without an answer"}),
    row(Question::end_of_capture, {is_refused}, {},
        {Fate::unknown, kNoVerdict, Cause::none, "a NAK ended the connection"}),
    row(Question::end_of_capture, {}, {was_sent_again, rnr_was_sent, is_refused},
        {Fate::unknown, kNoVerdict, Cause::none, "its answer may still be under way"}),
};

/// The first row of each question; the end of all comes last.
consteval auto begin_of_questions() {
  std::array<std::uint8_t, static_cast<std::size_t>(Question::count) + 1> begins{};
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    begins[static_cast<std::size_t>(kRows[i].question) + 1] = static_cast<std::uint8_t>(i + 1);
  }
  return begins;
}
constexpr auto kBegins = begin_of_questions();

// The questions follow each other as in the enumeration, and each has a row.
static_assert(std::ranges::is_sorted(kRows, {}, &ExplanationRow::question));
static_assert(std::ranges::adjacent_find(kBegins, std::ranges::greater_equal{}) == kBegins.end());
static_assert(kRows.size() < 0x100);

}  // namespace

const Explanation& explain(Evidence evidence) {
  static constexpr Explanation kUnknown{};
  const auto question = static_cast<std::size_t>(evidence.question());
  for (std::size_t i = kBegins[question]; i < kBegins[question + 1]; ++i) {
    if (kRows[i].fits(evidence)) return kRows[i].outcome;
  }
  return kUnknown;
}

std::span<const ExplanationRow> explanation_rows() {
  return kRows;
}

}  // namespace roce::analysis
