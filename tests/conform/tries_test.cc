// SPDX-License-Identifier: BSD-2-Clause
// How often a verdict has to be seen before it stands.
#include "conform/run/tries.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace roce::conform {
namespace {

const Place kPlace{.file = std::make_shared<const std::string>("psn-x.yaml"), .line = 1, .column = 1};

CaseOutcome passed() {
  return {};
}

/// The outcome of a run that failed in this line, after this many frames.
CaseOutcome failed(int line, std::string what = "expected ACK within 1000.000 ms, seen: nothing",
                   std::size_t frames = 2) {
  CaseOutcome outcome{.result = Result::fail};
  outcome.failure = StepFailure{{.file = kPlace.file, .line = line, .column = 1}, std::move(what)};
  outcome.frames.resize(frames);
  return outcome;
}

/// Runs that are told by letters: p passed, A, B, … failed in a line of their own. Returns the verdict and how many
/// runs it took, such as `pass 2`; `open` if all of them were not enough.
std::string verdict(const TryPlan& plan, std::string_view runs) {
  Tries tries{plan};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    tries.add(runs[i] == 'p' ? passed() : failed(runs[i]), false);
    if (tries.is_over()) {
      return std::string{to_string(tries.verdict(kPlace).result)} + " " + std::to_string(i + 1);
    }
  }
  return "open";
}

TEST(Tries, TheFirstRunDecidesInMemory) {
  EXPECT_EQ(verdict({}, "p"), "pass 1");
  EXPECT_EQ(verdict({}, "A"), "fail 1");
}

TEST(Tries, TwoOfThreeDecideWhereNothingIsLost) {
  const TryPlan plan = plan_without_loss();
  EXPECT_EQ(verdict(plan, "p"), "pass 1");
  EXPECT_EQ(verdict(plan, "AA"), "fail 2");
  EXPECT_EQ(verdict(plan, "App"), "pass 3");
  EXPECT_EQ(verdict(plan, "ApA"), "fail 3");
  EXPECT_EQ(verdict(plan, "ABB"), "fail 3");
  EXPECT_EQ(verdict(plan, "ABp"), "inconclusive 3");
  EXPECT_EQ(verdict(plan, "ABC"), "inconclusive 3");
}

TEST(Tries, FewerThanOneInAMillionCoincidencesOfLossesDecide) {
  EXPECT_EQ(plan_for_loss(1e-4).failures, 2U);
  EXPECT_EQ(plan_for_loss(1e-3).failures, 3U);
  EXPECT_EQ(plan_for_loss(1e-2).failures, 4U);
  const TryPlan plan = plan_for_loss(1e-2);
  EXPECT_EQ(verdict(plan, "p"), "open");
  EXPECT_EQ(verdict(plan, "pp"), "pass 2");
  EXPECT_EQ(verdict(plan, "AAA"), "open");
  EXPECT_EQ(verdict(plan, "AAAA"), "fail 4");
  EXPECT_EQ(verdict(plan, "pAAAA"), "fail 5");
  EXPECT_EQ(verdict(plan, "ABpp"), "pass 4");
  EXPECT_EQ(verdict(plan, "ABAppp"), "pass 6");
}

TEST(Tries, AWireThatLosesEverythingGivesNoVerdict) {
  const TryPlan plan = plan_for_loss(1);
  EXPECT_EQ(verdict(plan, std::string(plan.most - 1, 'A') + "p"), "inconclusive " + std::to_string(plan.most));
}

TEST(Tries, FailuresDifferByTheirStepAndKindNotByTimesAndAddresses) {
  const auto decided = [](const TryPlan& plan, CaseOutcome first, CaseOutcome second) {
    Tries tries{plan};
    tries.add(std::move(first), false);
    tries.add(std::move(second), true);
    return tries.is_over();
  };
  const TryPlan plan = plan_without_loss();
  EXPECT_TRUE(decided(plan, failed(7, "seen after 0.061 ms: memory at 0x7f01"),
                      failed(7, "seen after 12.5 ms: memory at 0x7f99")));
  EXPECT_FALSE(decided(plan, failed(7, "expected ACK, seen: nothing"), failed(7, "expected ACK, seen: RC_SEND_ONLY")));
  EXPECT_FALSE(decided(plan, failed(7), failed(8)));
  EXPECT_TRUE(decided(plan, failed(7, "x", 20), failed(7, "x", 30)));
}

TEST(Tries, TheRoundOfALoopCountsWhereFramesAreLost) {
  const TryPlan plan = plan_for_loss(1e-4);
  Tries same{plan};
  same.add(failed(7, "x", 20), false);
  same.add(failed(7, "x", 20), false);
  EXPECT_TRUE(same.is_over());
  Tries other{plan};
  other.add(failed(7, "x", 20), false);
  other.add(failed(7, "x", 30), false);
  EXPECT_FALSE(other.is_over());
}

TEST(Tries, ThePacketOfManyCountsWhereFramesAreLost) {
  const auto nak_of = [](const std::string& psn) {
    CaseOutcome outcome = failed(7, "expected ACK, seen: RC_ACKNOWLEDGE", 65);
    outcome.failure->fields = {{"aeth.syndrome", "0..31", "96", false}, {"bth.psn", "0..63", psn, true}};
    return outcome;
  };
  const TryPlan plan = plan_for_loss(1e-4);
  Tries tries{plan};
  tries.add(nak_of("23"), false);
  tries.add(nak_of("41"), false);
  EXPECT_FALSE(tries.is_over());
  tries.add(nak_of("23"), true);
  EXPECT_TRUE(tries.is_over());
}

TEST(Tries, ARunInWhichTheTesterLostFramesProvesNothing) {
  Tries tries{plan_without_loss()};
  CaseOutcome lossy = failed(7);
  lossy.lost_frames = 3;
  tries.add(lossy, false);
  tries.add(lossy, true);
  EXPECT_FALSE(tries.is_over());
  tries.add(passed(), true);
  ASSERT_TRUE(tries.is_over());
  const CaseOutcome outcome = tries.verdict(kPlace);
  EXPECT_EQ(outcome.result, Result::pass);
  ASSERT_EQ(outcome.tries.size(), 3U);
  EXPECT_FALSE(outcome.tries[0].counts);
  EXPECT_TRUE(outcome.tries[2].counts);
}

TEST(Tries, ARunOfALateTesterProvesNothing) {
  Tries tries{plan_without_loss()};
  CaseOutcome late = failed(7);
  late.was_late = true;
  tries.add(late, false);
  tries.add(late, true);
  EXPECT_FALSE(tries.is_over());
  tries.add(late, true);
  ASSERT_TRUE(tries.is_over());
  const CaseOutcome outcome = tries.verdict(kPlace);
  EXPECT_EQ(outcome.result, Result::inconclusive);
  EXPECT_EQ(outcome.failure->what, late.failure->what);
}

TEST(Tries, WhatFailedAmongOthersIsRunAgainAlone) {
  Tries tries{plan_without_loss()};
  EXPECT_FALSE(tries.wants_alone());
  tries.add(failed(7), false);
  EXPECT_TRUE(tries.wants_alone());
  // Where frames are lost many fail; only the run that would decide is alone.
  Tries lossy{plan_for_loss(1e-3)};
  lossy.add(failed(7), false);
  EXPECT_FALSE(lossy.wants_alone());
  lossy.add(failed(7), false);
  EXPECT_TRUE(lossy.wants_alone());
}

}  // namespace
}  // namespace roce::conform
