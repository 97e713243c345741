// SPDX-License-Identifier: BSD-2-Clause
// Where the responses of a READ belong. The READ takes PSNs 100 to 103.
#include "analysis/answer_follower.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace roce::analysis {
namespace {

using std::chrono::microseconds;

class AnswerFollowerTest : public ::testing::Test {
 protected:
  static constexpr LongPsn kBegin = 100;
  static constexpr LongPsn kEnd = 104;

  PlacedAnswer part(LongPsn psn) { return follower_.place({.psn = psn, .begins = psn == kBegin}, kBegin, kEnd); }
  // A part whose PSN is in a gap that was revealed `since` ago.
  PlacedAnswer missing_part(LongPsn psn, Duration since) {
    return follower_.place({.psn = psn, .begins = psn == kBegin, .is_missing = true, .since_revealed = since}, kBegin,
                           kEnd);
  }
  PlacedAnswer first_part(LongPsn psn) { return follower_.place({.psn = psn, .begins = true}, kBegin, kEnd); }

  AnswerFollower follower_ = AnswerFollower::from(kBegin, kEnd);
};

TEST_F(AnswerFollowerTest, InOrder) {
  EXPECT_FALSE(follower_.was_executed());
  for (LongPsn psn = kBegin; psn < kEnd; ++psn) EXPECT_EQ(part(psn).place, AnswerPlace::in_order) << psn;
  EXPECT_EQ(follower_.next_response, kEnd);
  EXPECT_EQ(follower_.state, AnswerFollower::State::begun);
  EXPECT_TRUE(follower_.was_executed());
}

TEST_F(AnswerFollowerTest, AGapKeepsTheRestOpen) {
  part(100);
  const PlacedAnswer placed = part(103);
  EXPECT_EQ(placed.place, AnswerPlace::gap);
  EXPECT_EQ(placed.gap_begin, 101);
  EXPECT_FALSE(placed.is_repeated);
}

TEST_F(AnswerFollowerTest, WithoutItsFirstPacketAnAnswerIsHeardButNotBegun) {
  EXPECT_EQ(part(101).place, AnswerPlace::gap);
  EXPECT_EQ(follower_.state, AnswerFollower::State::heard);
}

TEST_F(AnswerFollowerTest, AMissingPartIsLate) {
  part(100);
  part(102);
  const PlacedAnswer placed = missing_part(101, microseconds{50});
  EXPECT_EQ(placed.place, AnswerPlace::late);
  EXPECT_FALSE(placed.several_answers);
  EXPECT_EQ(part(103).place, AnswerPlace::in_order);
}

TEST(AnswerFollower, ALatePartOfTheAnswerBeforeLeavesNothingOut) {
  const auto late_by = [](Duration since) {
    AnswerFollower follower = AnswerFollower::from(100, 110);
    follower.ask_again(100, 110);
    for (const LongPsn psn : {100, 101, 102, 103, 104, 106}) {
      (void)follower.place({.psn = psn, .begins = psn == 100}, 100, 110);
    }
    (void)follower.place({.psn = 100, .begins = true}, 100, 110);
    const PlacedAnswer placed = follower.place({.psn = 105, .is_missing = true, .since_revealed = since}, 100, 110);
    const AnswerPlace next = follower.place({.psn = 101}, 100, 110).place;
    return std::pair(placed.place, next);
  };
  EXPECT_EQ(late_by(microseconds{1}), std::pair(AnswerPlace::late, AnswerPlace::in_order));
  EXPECT_NE(late_by(microseconds{3}).first, AnswerPlace::late);
}

TEST_F(AnswerFollowerTest, AMissingPartMayBelongToAnotherAnswerAfterASecondRequest) {
  part(100);
  part(102);
  follower_.ask_again(kBegin, kEnd);
  EXPECT_TRUE(missing_part(101, microseconds{50}).several_answers);
}

TEST_F(AnswerFollowerTest, APartThatComesAtOnceIsOnlyLate) {
  part(100);
  part(102);
  follower_.ask_again(kBegin, kEnd);
  EXPECT_FALSE(missing_part(101, microseconds{1}).several_answers);
  EXPECT_TRUE(missing_part(101, microseconds{2}).several_answers);
}

TEST_F(AnswerFollowerTest, ASecondAnswerBeginsWhileTheFirstGoesOn) {
  part(100);
  part(101);
  follower_.ask_again(kBegin, kEnd);
  const PlacedAnswer begin = part(100);
  EXPECT_EQ(begin.place, AnswerPlace::again);
  EXPECT_TRUE(begin.is_repeated);
  EXPECT_EQ(part(102).place, AnswerPlace::again);  // of the first answer
  EXPECT_EQ(part(101).place, AnswerPlace::in_order);
  EXPECT_EQ(part(103).place, AnswerPlace::gap);  // the first answer is over
}

TEST_F(AnswerFollowerTest, ARequestForTheRestResetsItsAnswer) {
  part(100);
  part(101);
  follower_.ask_again(102, kEnd);
  EXPECT_EQ(follower_.state, AnswerFollower::State::awaited);
  EXPECT_FALSE(follower_.was_complete);
  EXPECT_EQ(follower_.next_response, 102);
  EXPECT_EQ(first_part(102).place, AnswerPlace::in_order);
  EXPECT_EQ(follower_.state, AnswerFollower::State::begun);
}

TEST_F(AnswerFollowerTest, RemembersThatItWasComplete) {
  for (LongPsn psn = kBegin; psn < kEnd; ++psn) part(psn);
  follower_.ask_again(kBegin, kEnd);
  EXPECT_TRUE(follower_.was_complete);
}

TEST_F(AnswerFollowerTest, AnAnswerThatBeginsInTheMiddleWasAskedForUnseen) {
  part(100);
  part(103);
  const PlacedAnswer placed = follower_.place(
      {.psn = 101, .begins = true, .is_missing = true, .since_revealed = microseconds{1}}, kBegin, kEnd);
  EXPECT_TRUE(placed.several_answers);
  EXPECT_TRUE(follower_.asked_unseen);
}

TEST_F(AnswerFollowerTest, AFirstPacketWithANewerMsnWasAskedForUnseen) {
  part(101);
  (void)follower_.place({.psn = 100, .begins = true, .has_newer_msn = true, .is_missing = true}, kBegin, kEnd);
  EXPECT_TRUE(follower_.asked_unseen);
}

TEST_F(AnswerFollowerTest, GivenUpNothingIsMissing) {
  part(100);
  follower_.give_up(kEnd);
  EXPECT_EQ(follower_.next_response, kEnd);
}

}  // namespace
}  // namespace roce::analysis
