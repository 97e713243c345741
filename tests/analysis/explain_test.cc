// SPDX-License-Identifier: BSD-2-Clause
// The table of explanations: each row by an example, and that exactly one row fits whatever is known.
#include "analysis/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace roce::analysis {
namespace {

using enum Fact;
using enum VerdictKind;

struct Example {
  Question question{};
  std::vector<Fact> facts;
  Fate fate = Fate::unknown;
  VerdictKind verdict = kNoVerdict;
  Cause cause = Cause::none;
};

Evidence evidence_of(const Example& example) {
  Evidence evidence{example.question};
  for (const Fact fact : example.facts) evidence.note(fact, true);
  return evidence;
}

// Each row has at least one, with the facts of a real packet: more than the row needs where they come together.
const std::vector<Example>& examples() {
  using Q = Question;
  using F = Fate;
  using C = Cause;
  static const std::vector<Example> all{
      {Q::copied_request, {begins_there, has_same_bits, bits_would_differ, responder_spoke}, F::copy, duplicate},
      {Q::copied_request, {begins_there, has_same_bits, follows_directly}, F::copy, duplicate},
      {Q::copied_request, {has_same_bits, follows_directly}},
      {Q::copied_request, {begins_there, bits_would_differ}},
      {Q::copied_request, {begins_there, has_same_bits}},
      {Q::copied_request, {begins_there, has_same_bits, follows_directly, was_asked_for, responder_spoke}},
      {Q::copied_request, {begins_there, has_same_bits, follows_directly, responder_spoke}},
      {Q::copied_request, {begins_there, has_same_bits, follows_directly, was_under_way}},
      {Q::copied_response, {bits_would_differ}, F::copy, duplicate},
      {Q::copied_response, {follows_directly, was_sent_once}, F::copy, duplicate},
      {Q::copied_response, {was_sent_once}},
      {Q::copied_response, {follows_directly}},
      {Q::maker_of_copy, {few_packets, many_copies}, F::copy, duplicate, C::unknown},
      {Q::maker_of_copy, {many_copies}, F::copy, duplicate, C::capture},
      {Q::maker_of_copy, {}, F::copy, duplicate, C::network},
      {Q::request_ahead, {ids_count, is_older, was_under_way}, F::late, out_of_order},
      {Q::request_ahead, {ids_count, was_under_way}},
      {Q::request_ahead, {was_under_way}, F::late, out_of_order},
      {Q::request_ahead, {is_first}, F::sent_again_or_late},
      {Q::request_ahead, {}},
      {Q::repeated_request, {ids_count, is_older, was_sent_last, missed_its_turn}, F::late_of_go_back, reordered},
      {Q::repeated_request, {ids_count, is_older, was_sent_first}, F::late, reordered},
      {Q::repeated_request, {ids_count, is_older}, F::late_of_go_back, reordered},
      {Q::repeated_request,
       {ids_count, missed_its_turn, is_of_go_back, is_near, is_soon},
       F::sent_again,
       retransmission},
      {Q::repeated_request, {was_under_way, missed_its_turn}, F::late_of_go_back, reordered},
      {Q::repeated_request, {is_of_go_back, is_near, is_soon}, F::sent_again, retransmission},
      {Q::repeated_request, {missed_its_turn, is_near, is_soon}, F::sent_again, retransmission},
      {Q::repeated_request, {missed_its_turn, is_of_go_back, is_soon}, F::sent_again, retransmission},
      {Q::repeated_request,
       {missed_its_turn, is_of_go_back, is_near, was_asked_for, is_soon},
       F::sent_again,
       retransmission},
      {Q::repeated_request, {missed_its_turn, is_of_go_back, is_near}, F::sent_again, retransmission},
      {Q::repeated_request, {missed_its_turn, is_of_go_back, is_near, is_soon}, F::late_of_go_back, reordered},
      {Q::left_out_request, {is_acknowledged, was_asked_for}, F::unknown, unexplained},
      {Q::left_out_request, {was_asked_for}, F::lost, request_lost_before},
      {Q::left_out_request, {after_timeout}, F::lost, request_lost_before},
      {Q::left_out_request, {}, F::unknown, unexplained},
      {Q::missing_request, {ids_count, is_older, is_acknowledged}, F::late, reordered},
      {Q::missing_request, {ids_count, is_acknowledged}, F::sent_again, missed_by_capture},
      {Q::missing_request, {ids_count, nak_for_it_alone, was_asked_for}, F::sent_again, request_lost_before},
      {Q::missing_request, {is_acknowledged, is_soon}, F::sent_again, missed_by_capture},
      {Q::missing_request, {was_under_way, nak_for_it_alone, was_asked_for}, F::late, reordered},
      {Q::missing_request, {nak_for_it_alone, was_asked_for}, F::sent_again_or_late},
      {Q::missing_request, {is_ahead}, F::sent_again, request_lost_before},
      {Q::missing_request, {was_asked_for}, F::sent_again, request_lost_before},
      {Q::missing_request, {after_timeout}, F::sent_again, request_lost_before},
      {Q::missing_request, {is_soon}, F::late, reordered},
      {Q::missing_request, {}, F::unknown, unexplained},
      {Q::doubtful_request, {comes_again, follows_directly}, F::lost, request_lost_before},
      {Q::doubtful_request, {comes_again, next_is_new}, F::late, reordered},
      {Q::doubtful_request, {next_is_new}, F::late, reordered},
      {Q::doubtful_request, {}, F::lost, request_lost_before},
      {Q::open_gap, {is_acknowledged}, F::missed, missed_by_capture},
      {Q::open_gap, {is_acknowledged, is_given_up}, F::missed, missed_by_capture, C::unknown},
      {Q::open_gap, {is_acknowledged, is_of_go_back}, F::unknown, unexplained},
      {Q::open_gap, {is_acknowledged, is_of_go_back, is_given_up}, F::unknown, unexplained, C::unknown},
      {Q::open_gap, {is_given_up}, F::unknown, unexplained, C::unknown},
      {Q::open_gap, {is_given_up, is_unreliable}, F::lost, lost_for_good, C::unknown},
      {Q::arrived_unseen, {was_damaged}, F::damaged_and_missed, missed_by_capture, C::corrupted},
      {Q::arrived_unseen, {}, F::missed, missed_by_capture},
      {Q::jump, {goes_on_there}, F::unknown, unexplained},
      {Q::jump, {goes_on_there, is_near}},
      {Q::jump, {is_near}},
      {Q::going_back, {was_asked_for, rnr_was_sent}, F::sent_again, retransmission, C::nak},
      {Q::going_back, {rnr_was_sent, is_soon}, F::sent_again, retransmission, C::rnr},
      {Q::going_back, {was_passed, later_part_seen}, F::sent_again, retransmission, C::implied_nak},
      {Q::going_back, {later_was_nacked}, F::sent_again, retransmission, C::implied_nak},
      {Q::going_back, {later_part_seen, is_soon}, F::sent_again, retransmission, C::implied_nak},
      {Q::going_back, {is_soon}, F::sent_again, retransmission, C::unknown},
      {Q::going_back, {}, F::sent_again, retransmission, C::timeout},
      {Q::refused_request, {was_seen}, F::lost, request_lost_after},
      {Q::refused_request, {was_seen, arrived_late}},
      {Q::refused_request, {}},
      {Q::refused_and_answered, {is_first}, F::lost, request_lost_after},
      {Q::refused_and_answered, {is_soon, is_first}, F::late, request_late_after},
      {Q::refused_and_answered, {is_soon}, F::late},
      {Q::acknowledged_again, {was_seen, is_first, is_soon}, F::late, request_late_after},
      {Q::acknowledged_again, {was_seen, is_first}},
      {Q::acknowledged_again, {was_seen, is_soon}},
      {Q::acknowledged_again, {is_soon}},
      {Q::unanswered_request, {may_not_count, was_answered}},
      {Q::unanswered_request, {too_many_to_lose, was_answered}},
      {Q::unanswered_request, {was_answered, answer_was_due}, F::lost, response_lost_after},
      {Q::unanswered_request, {is_refused, answer_was_due}},
      {Q::unanswered_request, {is_being_answered, answer_was_due}},
      {Q::unanswered_request, {answer_was_due}, F::lost, lost_beyond},
      {Q::unanswered_request, {}},
      {Q::unanswered_read, {reason_is_unknown, came_since}},
      {Q::unanswered_read, {reason_is_implied, reason_is_old, came_since}},
      {Q::unanswered_read, {reason_is_implied, reason_is_early, came_since}},
      {Q::unanswered_read, {reason_is_implied, came_since, is_accounted_for}},
      {Q::unanswered_read, {reason_is_implied, came_since, was_executed}, F::unknown, response_not_in_time},
      {Q::unanswered_read, {reason_is_implied, is_of_old_answer, was_executed}},
      {Q::unanswered_read, {reason_is_implied}},
      {Q::unanswered_read, {reason_is_implied, was_executed, may_be_in_old}},
      {Q::unanswered_read, {reason_is_implied, was_executed}, F::lost, response_lost_before},
      {Q::unanswered_read, {came_since, is_accounted_for}},
      {Q::unanswered_read, {came_since, later_part_seen, was_executed}, F::unknown, response_not_in_time},
      {Q::unanswered_read, {came_since, was_executed}, F::lost, response_lost_after},
      {Q::unanswered_read, {was_executed}, F::lost, response_lost_before},
      {Q::unanswered_read, {}, F::lost, lost_beyond},
      {Q::doubted_request, {all_were_answered}, F::late},
      {Q::doubted_request, {}, F::lost, lost_beyond},
      {Q::late_answer, {several_answers}, F::unknown, unexplained},
      {Q::late_answer, {}, F::late, reordered},
      {Q::old_ack, {is_newest}, F::sent_again, duplicate_ack},
      {Q::old_ack, {is_older, was_seen}, F::late, response_out_of_order},
      {Q::old_ack, {was_sent_last}, F::sent_again, ghost_ack},
      {Q::old_ack, {was_seen}, F::sent_again, ghost_ack},
      {Q::old_ack, {}, F::late, response_out_of_order},
      {Q::requested_gap, {}, F::unknown, unexplained},
      {Q::passed_answer, {was_complete}, F::unknown, unexplained},
      {Q::passed_answer, {}, F::missed, missed_by_capture},
      {Q::end_of_capture, {was_sent_again}, F::lost, no_answer},
      {Q::end_of_capture, {was_sent_again, is_refused}},
      {Q::end_of_capture, {was_sent_again, rnr_was_sent}, F::unknown, never_ready},
      {Q::end_of_capture, {rnr_was_sent}, F::unknown, never_ready},
      {Q::end_of_capture, {}},
  };
  return all;
}

std::size_t rows_that_fit(const Evidence& evidence) {
  return static_cast<std::size_t>(
      std::ranges::count_if(explanation_rows(), [&](const ExplanationRow& row) { return row.fits(evidence); }));
}

TEST(Explain, SaysWhatBecameOfEachExample) {
  for (const Example& example : examples()) {
    const Explanation& found = explain(evidence_of(example));
    SCOPED_TRACE(std::string(found.because));
    EXPECT_EQ(found.fate, example.fate);
    EXPECT_EQ(found.verdict, example.verdict);
    EXPECT_EQ(found.cause, example.cause);
  }
}

TEST(Explain, EachRowHasAnExampleAndWordsOfItsOwn) {
  std::set<std::pair<Question, std::string_view>> words;
  for (const ExplanationRow& row : explanation_rows()) {
    EXPECT_TRUE(std::ranges::any_of(examples(), [&](const Example& each) { return row.fits(evidence_of(each)); }))
        << row.outcome.because;
    EXPECT_TRUE(words.emplace(row.question, row.outcome.because).second) << row.outcome.because;
  }
}

// Only the facts in the rows of a question can make a difference, so these are all cases that there are.
TEST(Explain, ExactlyOneRowFitsWhateverIsKnown) {
  for (std::size_t q = 0; q < static_cast<std::size_t>(Question::count); ++q) {
    std::uint64_t used = 0;
    for (const ExplanationRow& row : explanation_rows()) {
      if (row.question == static_cast<Question>(q)) used |= row.needs | row.excludes;
    }
    std::vector<Fact> facts;
    for (std::size_t i = 0; i < kFacts; ++i) {
      if ((used >> i & 1U) != 0) facts.push_back(static_cast<Fact>(i));
    }
    for (std::uint64_t known = 0; known < std::uint64_t{1} << facts.size(); ++known) {
      Evidence evidence{static_cast<Question>(q)};
      for (std::size_t i = 0; i < facts.size(); ++i) evidence.note(facts[i], (known >> i & 1U) != 0);
      ASSERT_EQ(rows_that_fit(evidence), 1U) << "question " << q << ", facts " << evidence.facts();
    }
  }
}

TEST(Explain, EachFactMakesADifference) {
  std::uint64_t used = 0;
  for (const ExplanationRow& row : explanation_rows()) used |= row.needs | row.excludes;
  EXPECT_EQ(used, (std::uint64_t{1} << kFacts) - 1);
}

}  // namespace
}  // namespace roce::analysis
