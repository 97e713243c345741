// SPDX-License-Identifier: BSD-2-Clause
// The times at which packets leave: delay, reorder, and the times at which the engine asks to be called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

using test::at;
using test::drain;
using test::engine_of;
using test::frame_of;
using test::middle;
using test::numbers;
using test::pass;
using testing::ElementsAre;
using testing::IsEmpty;

/// Submits WRITE Middles of consecutive PSNs, all at time 0, and returns the numbers of the frames in leaving order.
std::vector<std::uint64_t> order_of(Engine& engine, std::size_t count, Direction direction = Direction::a_to_b) {
  std::vector<std::uint64_t> order;
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::uint64_t number : numbers(pass(engine, middle(static_cast<std::uint32_t>(i)), direction))) {
      order.push_back(number);
    }
  }
  return order;
}

TEST(ImpairOrder, NothingInsideNothingToWaitFor) {
  Engine engine = engine_of("drop");
  EXPECT_EQ(engine.next_timeout(), kNever);
  EXPECT_FALSE(engine.poll(at(100)).has_value());
  EXPECT_THAT(pass(engine, middle(1)), IsEmpty());
  EXPECT_EQ(engine.next_timeout(), kNever);
}

TEST(ImpairOrder, PassingFramesAreDueWhenTheyCome) {
  Engine engine = engine_of("");
  ASSERT_EQ(engine.submit(Direction::a_to_b, middle(1), at(70)), Submitted::taken);
  EXPECT_EQ(engine.next_timeout(), at(70));
  EXPECT_FALSE(engine.poll(at(69)).has_value());
  const auto output = engine.poll(at(90));
  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(output->due, at(70));
}

TEST(ImpairOrder, DelayHoldsForItsTime) {
  Engine engine = engine_of("delay:by=5us,psn=0");
  EXPECT_THAT(pass(engine, middle(1), Direction::a_to_b, at(1000)), IsEmpty());
  EXPECT_EQ(engine.next_timeout(), at(6000));
  EXPECT_THAT(numbers(pass(engine, middle(2), Direction::a_to_b, at(2000))), ElementsAre(2));
  EXPECT_THAT(drain(engine, at(5999)), IsEmpty());
  const auto sent = drain(engine, at(7000));
  ASSERT_THAT(numbers(sent), ElementsAre(1));
  EXPECT_EQ(sent[0].due, at(6000));
  EXPECT_EQ(engine.next_timeout(), kNever);
}

TEST(ImpairOrder, FramesDueAtTheSameTimeKeepTheirOrder) {
  Engine engine = engine_of("delay:by=10ns");
  for (std::uint32_t i = 0; i < 20; ++i) pass(engine, middle(i), Direction::a_to_b, at(5));
  EXPECT_THAT(numbers(drain(engine, at(15))),
              testing::ElementsAreArray({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}));
}

TEST(ImpairOrder, ALatePollStillGoesByDueTime) {
  Engine engine = engine_of("delay:by=10ns,psn=0");
  ASSERT_EQ(engine.submit(Direction::a_to_b, middle(1), at(0)), Submitted::taken);
  ASSERT_EQ(engine.submit(Direction::a_to_b, middle(2), at(9)), Submitted::taken);
  ASSERT_EQ(engine.submit(Direction::a_to_b, middle(3), at(11)), Submitted::taken);
  EXPECT_THAT(numbers(drain(engine, at(100))), ElementsAre(2, 1, 3));
}

TEST(ImpairOrder, ReorderWaitsForSoManyLaterPackets) {
  Engine one = engine_of("reorder:by=1,psn=1");
  EXPECT_THAT(order_of(one, 5), ElementsAre(1, 3, 2, 4, 5));
  Engine three = engine_of("reorder:by=3,psn=1");
  EXPECT_THAT(order_of(three, 6), ElementsAre(1, 3, 4, 5, 2, 6));
}

TEST(ImpairOrder, ReorderOfSeveralLetsTheOthersPassThem) {
  Engine engine = engine_of("reorder:by=2,psn=0..1");
  EXPECT_THAT(order_of(engine, 6), ElementsAre(3, 4, 1, 2, 5, 6));
}

TEST(ImpairOrder, ReorderWaitsForPacketsOfItsDirectionOnly) {
  Engine engine = engine_of("reorder:by=1,dir=a_to_b,count=1");
  EXPECT_THAT(order_of(engine, 1), IsEmpty());
  EXPECT_THAT(order_of(engine, 2, Direction::b_to_a), ElementsAre(2, 3));
  EXPECT_THAT(order_of(engine, 1), ElementsAre(4, 1));
}

TEST(ImpairOrder, DroppedPacketsAndCopiesDoNotPass) {
  Engine engine = engine_of("reorder:by=2,psn=0; drop:psn=1; duplicate:psn=2,copies=3");
  EXPECT_THAT(order_of(engine, 5), ElementsAre(3, 3, 3, 3, 4, 1, 5));
}

TEST(ImpairOrder, ReorderIsNeverStuck) {
  Engine engine = engine_of("reorder:by=3,timeout=2ms");
  EXPECT_THAT(pass(engine, middle(1), Direction::a_to_b, at(100)), IsEmpty());
  EXPECT_THAT(pass(engine, middle(2), Direction::a_to_b, at(200)), IsEmpty());
  EXPECT_EQ(engine.next_timeout(), at(2'000'100));
  EXPECT_THAT(numbers(drain(engine, at(2'000'100))), ElementsAre(1));
  EXPECT_EQ(engine.next_timeout(), at(2'000'200));
  EXPECT_THAT(numbers(drain(engine, at(2'000'200))), ElementsAre(2));
  EXPECT_EQ(engine.next_timeout(), kNever);
  Engine unasked = engine_of("reorder:by=1");
  pass(unasked, middle(1));
  EXPECT_EQ(unasked.next_timeout(), at(10'000'000)) << "the timeout that no rule set";
}

TEST(ImpairOrder, ReorderedCopiesStayWithTheirPacket) {
  Engine engine = engine_of("reorder:by=1,psn=0; duplicate:psn=0");
  EXPECT_THAT(order_of(engine, 3), ElementsAre(2, 1, 1, 3));
}

TEST(ImpairOrder, DelayAndReorderBothHaveToBeOver) {
  Engine engine = engine_of("reorder:by=1,psn=0,timeout=50ns; delay:by=100ns,psn=0");
  EXPECT_THAT(pass(engine, middle(1), Direction::a_to_b, at(0)), IsEmpty());
  EXPECT_THAT(numbers(pass(engine, middle(2), Direction::a_to_b, at(10))), ElementsAre(2));
  EXPECT_EQ(engine.next_timeout(), at(100));
  EXPECT_THAT(numbers(drain(engine, at(100))), ElementsAre(1));
  Engine other = engine_of("reorder:by=1,psn=0,timeout=1us; delay:by=100ns,psn=0");
  pass(other, middle(1), Direction::a_to_b, at(0));
  EXPECT_THAT(drain(other, at(100)), IsEmpty()) << "the delay is over, the reorder is not";
  EXPECT_THAT(numbers(pass(other, middle(2), Direction::a_to_b, at(200))), ElementsAre(2, 1));
}

TEST(ImpairOrder, ManyDelaysAddUpWithoutEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "delay:by=3600s;";
  Engine engine = engine_of(text);
  const Time late = Time::max() - std::chrono::hours{50};
  EXPECT_THAT(pass(engine, middle(1), Direction::a_to_b, late), IsEmpty());
  EXPECT_LT(engine.next_timeout(), kNever);
  EXPECT_GT(engine.next_timeout(), late);
}

}  // namespace
}  // namespace roce::impair
