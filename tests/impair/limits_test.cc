// SPDX-License-Identifier: BSD-2-Clause
// Behaviour at the limits: nothing grows beyond them, and nothing is lost silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

using test::at;
using test::drain;
using test::drain_log;
using test::engine_of;
using test::frame_of;
using test::middle;
using test::numbers;
using test::pass;
using testing::ElementsAre;

TEST(ImpairLimits, PacketsBeyondTheHeldOnesPassAndTheLogSaysSo) {
  Engine engine = engine_of("delay:by=1us; mark_ce", 1, {.held_packets = 2});
  EXPECT_TRUE(pass(engine, middle(1)).empty());
  EXPECT_TRUE(pass(engine, middle(2)).empty());
  const auto third = pass(engine, middle(3));
  ASSERT_THAT(numbers(third), ElementsAre(3));
  EXPECT_EQ(test::value_in(third[0].bytes, "ip.ecn"), "3") << "what needs no room is still done";
  EXPECT_EQ(engine.stats().over_limit, 1U);
  const auto records = drain_log(engine);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[2].outcome, LogOutcome::done);
  EXPECT_EQ(records[4].outcome, LogOutcome::over_limit);
  EXPECT_EQ(records[4].packet, 3U);
  EXPECT_EQ(records[5].outcome, LogOutcome::done);
  EXPECT_THAT(to_string(records[4], engine.rules()),
              testing::HasSubstr("delay left out, too much is held already (rule 1)"));
  // There is room again once the held packets have left.
  EXPECT_THAT(numbers(drain(engine, at(1000))), ElementsAre(1, 2));
  EXPECT_TRUE(pass(engine, middle(4), Direction::a_to_b, at(1000)).empty());
}

TEST(ImpairLimits, BytesCountToo) {
  const std::size_t size = middle(1).size();
  Engine engine = engine_of("reorder:by=5", 1, {.held_bytes = 2 * size});
  EXPECT_TRUE(pass(engine, middle(1)).empty());
  EXPECT_TRUE(pass(engine, middle(2)).empty());
  EXPECT_EQ(pass(engine, middle(3)).size(), 1U);
  Engine none = engine_of("reorder:by=5", 1, {.held_bytes = size - 1});
  EXPECT_EQ(pass(none, middle(1)).size(), 1U);
  Engine exact = engine_of("reorder:by=5", 1, {.held_bytes = size});
  EXPECT_EQ(pass(exact, middle(1)).size(), 0U);
}

TEST(ImpairLimits, FramesThatNobodyPollsAreRefusedNotLost) {
  Engine engine = engine_of("", 1, {.ready_packets = 2});
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(1), at(0)), Submitted::taken);
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(2), at(0)), Submitted::taken);
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(3), at(0)), Submitted::full);
  EXPECT_EQ(engine.stats().submitted, 2U);
  ASSERT_TRUE(engine.poll(at(0)).has_value());
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(3), at(0)), Submitted::taken);
  EXPECT_THAT(numbers(drain(engine)), ElementsAre(2, 3));
}

TEST(ImpairLimits, ARefusedFrameIsNotCountedByTheRules) {
  Engine engine = engine_of("drop:nth=2", 1, {.ready_packets = 1});
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(1), at(0)), Submitted::taken);
  EXPECT_EQ(engine.submit(Direction::a_to_b, middle(2), at(0)), Submitted::full);
  EXPECT_EQ(drain(engine).size(), 1U);
  EXPECT_TRUE(pass(engine, middle(2)).empty());
}

TEST(ImpairLimits, FramesThatAreTooLongAreRefused) {
  Engine engine = engine_of("drop", 1, {.frame_bytes = 50});
  EXPECT_EQ(engine.submit(Direction::a_to_b, test::Frame(51), at(0)), Submitted::too_long);
  EXPECT_EQ(engine.submit(Direction::a_to_b, test::Frame(50), at(0)), Submitted::taken);
  EXPECT_EQ(engine.stats().submitted, 1U);
}

TEST(ImpairLimits, LogRecordsBeyondTheLimitAreCounted) {
  Engine engine = engine_of("mark_ce", 1, {.log_records = 3});
  for (std::uint32_t i = 0; i < 5; ++i) pass(engine, middle(i));
  EXPECT_EQ(engine.stats().log_lost, 2U);
  auto records = drain_log(engine);
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].packet, 1U);
  EXPECT_EQ(records[2].packet, 3U);
  pass(engine, middle(9));
  records = drain_log(engine);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].packet, 6U);
  Engine silent = engine_of("mark_ce", 1, {.log_records = 0});
  pass(silent, middle(1));
  EXPECT_FALSE(silent.poll_log().has_value());
  EXPECT_EQ(silent.stats().log_lost, 1U);
}

test::Frame to_qp(std::uint32_t qp, std::uint32_t psn) {
  return frame_of(Opcode::rc_send_only, {{"bth.dest_qp", std::to_string(qp)}, {"bth.psn", std::to_string(psn)}});
}

TEST(ImpairLimits, TheFlowThatWasSilentLongestIsForgotten) {
  Engine engine = engine_of("drop:tx=2..", 1, {.flows = 2});
  pass(engine, to_qp(1, 7));
  pass(engine, to_qp(2, 7));
  EXPECT_TRUE(pass(engine, to_qp(1, 7)).empty());
  EXPECT_EQ(engine.stats().flows_forgotten, 0U);
  EXPECT_FALSE(pass(engine, to_qp(3, 7)).empty());
  EXPECT_EQ(engine.stats().flows_forgotten, 1U);
  EXPECT_TRUE(pass(engine, to_qp(1, 7)).empty()) << "1 spoke after 2";
  EXPECT_FALSE(pass(engine, to_qp(2, 7)).empty()) << "2 was forgotten";
  EXPECT_EQ(engine.stats().flows_forgotten, 2U);
}

TEST(ImpairLimits, AForgottenFlowGetsANewFirstPsn) {
  Engine engine = engine_of("drop:psn=1", 1, {.flows = 1});
  EXPECT_FALSE(pass(engine, to_qp(1, 100)).empty());
  EXPECT_TRUE(pass(engine, to_qp(1, 101)).empty());
  EXPECT_FALSE(pass(engine, to_qp(2, 101)).empty());
  EXPECT_FALSE(pass(engine, to_qp(1, 101)).empty());
  EXPECT_TRUE(pass(engine, to_qp(1, 102)).empty());
}

TEST(ImpairLimits, TransmissionsAreCountedForSoManyPsns) {
  Engine engine = engine_of("drop:tx=2..", 1, {.psns_per_flow = 4});
  for (std::uint32_t psn = 0; psn < 8; ++psn) EXPECT_FALSE(pass(engine, middle(psn)).empty());
  // 0 … 3 share their rows with 4 … 7, and each row has two slots.
  for (std::uint32_t psn = 0; psn < 8; ++psn) EXPECT_TRUE(pass(engine, middle(psn)).empty()) << psn;
  for (std::uint32_t psn = 8; psn < 12; ++psn) EXPECT_FALSE(pass(engine, middle(psn)).empty());
  EXPECT_FALSE(pass(engine, middle(0)).empty()) << "0 was silent longest in its row";
  EXPECT_TRUE(pass(engine, middle(8)).empty());
}

TEST(ImpairLimits, TheCountsOfFramesAgree) {
  Engine engine = engine_of(
      "drop:probability=0.2; duplicate:probability=0.3,copies=2; reorder:probability=0.3,by=4;"
      "delay:probability=0.2,by=30ns",
      7, {.held_packets = 8});
  std::uint64_t sent = 0;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    sent += pass(engine, middle(i), Direction::a_to_b, at(i)).size();
    const Stats& stats = engine.stats();
    ASSERT_EQ(stats.polled, sent);
    ASSERT_EQ(stats.submitted + stats.duplicates, stats.polled + stats.dropped + engine.packets_inside());
  }
  EXPECT_GT(engine.stats().over_limit, 0U);
  drain(engine, at(1'000'000'000));
  EXPECT_EQ(engine.packets_inside(), 0U);
}

TEST(ImpairLimits, AnEngineCanBeMoved) {
  Engine first = engine_of("drop:nth=2");
  EXPECT_EQ(pass(first, middle(1)).size(), 1U);
  Engine second = std::move(first);
  EXPECT_EQ(pass(second, middle(1)).size(), 0U);
}

}  // namespace
}  // namespace roce::impair
