// SPDX-License-Identifier: BSD-2-Clause
// Commands of NVMe whose set-up nobody saw, frame by frame.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/nvme_wire.h"

namespace roce::analysis {
namespace {

using namespace std::chrono_literals;

TEST(NvmeSurvey, PairsResponsesInAnyOrder) {
  NvmeWire wire;
  wire.command(1);
  wire.ack();
  wire.command(2);
  wire.command(3);
  wire.data(3);
  wire.response(3);
  wire.data(1);
  wire.response(1);
  wire.response(2);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].command.command_id, 3);
  EXPECT_EQ(all[0].until_data(), Duration{1000});
  EXPECT_EQ(all[0].data_bytes, 64U);
  EXPECT_EQ(all[1].command.command_id, 1);
  EXPECT_EQ(all[1].latency(), Duration{7000});
  EXPECT_EQ(all[2].has_data(), false);
  const NvmeQueue queue = wire.survey().queues().at(0);
  EXPECT_EQ(queue.most_outstanding, 3U);
  EXPECT_EQ(queue.host, kHost);
  EXPECT_EQ(queue.target_qp, Qpn{0x22});
  EXPECT_EQ(queue.queue_id, std::nullopt);
  EXPECT_FALSE(queue.is_admin);
}

TEST(NvmeSurvey, AnIdentifierThatIsUsedAgainEndsTheCommandBefore) {
  NvmeWire wire;
  wire.command(7);
  wire.ack();
  wire.command(7);
  wire.response(7);
  wire.response(7);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].end, NvmeEnd::missed);
  EXPECT_EQ(all[1].end, NvmeEnd::answered);
  EXPECT_EQ(wire.survey().queues().at(0).responses_without_command, 1U);
}

TEST(NvmeSurvey, ACommandThatWaitsLongerThanAnyIsUnanswered) {
  NvmeWire wire;
  wire.command(1);
  wire.ack();
  wire.response(1);
  wire.command(2);
  for (std::uint16_t id = 10; id < 20; ++id) {
    wire.command(id);
    wire.response(id);
  }
  wire.command(3);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 13U);
  EXPECT_EQ(all[11].command.command_id, 2);
  EXPECT_EQ(all[11].end, NvmeEnd::unanswered);
  EXPECT_EQ(all[12].command.command_id, 3);
  EXPECT_EQ(all[12].end, NvmeEnd::open);
}

TEST(NvmeSurvey, WhereNothingWasAnsweredYetAShortWaitIsNoFailure) {
  for (const bool is_long : {false, true}) {
    NvmeWire wire;
    wire.command(1);
    wire.ack();
    wire.command(2);
    if (is_long) wire.set_clock(1s + 1us);
    wire.ack();
    const std::vector<NvmeExchange> all = wire.finish();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].end, is_long ? NvmeEnd::unanswered : NvmeEnd::open);
    EXPECT_EQ(all[1].end, NvmeEnd::open);
  }
}

TEST(NvmeSurvey, OneDirectionShowsNoFailure) {
  NvmeWire wire;
  wire.command(1);
  wire.set_clock(60s);
  wire.command(2);
  for (const NvmeExchange& each : wire.finish()) EXPECT_EQ(each.end, NvmeEnd::open);
}

TEST(NvmeSurvey, TheClockOfAnotherPointDoesNotLengthenAWait) {
  NvmeWire wire;
  wire.command(1);
  wire.ack();
  wire.response(1);
  wire.command(2);
  wire.set_point(1);
  wire.set_clock(1h);
  wire.command(1);
  wire.ack();
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].end, NvmeEnd::answered);
  EXPECT_EQ(all[1].end, NvmeEnd::open);
  EXPECT_EQ(all[1].latency(), 0s);
  EXPECT_EQ(all[2].end, NvmeEnd::open);
}

TEST(NvmeSurvey, AClockThatGoesBackCountsNoTimeTwice) {
  NvmeWire wire;
  wire.command(1);
  wire.set_clock(10s);
  wire.ack();
  wire.command(2);
  wire.set_clock(0s);
  wire.command(3);
  wire.set_clock(9s);
  wire.response(3);
  // One command for 10 seconds; those with two or three of them were counted before.
  EXPECT_NEAR(wire.survey().queues().at(0).mean_outstanding, 1.0, 0.001);
  EXPECT_EQ(wire.survey().queues().at(0).most_outstanding, 3U);
}

TEST(NvmeSurvey, AClockThatJumpsOverflowsNothing) {
  constexpr Duration kEnd{std::numeric_limits<std::int64_t>::max() / 4};
  NvmeWire wire;
  wire.command(1);
  for (std::uint16_t id = 2; id < 50; ++id) {
    wire.set_clock(id % 2 == 0 ? -kEnd : kEnd);
    wire.command(id);
  }
  const double mean = wire.survey().queues().at(0).mean_outstanding;
  EXPECT_GE(mean, 1.0);
  EXPECT_LE(mean, 49.0);
}

TEST(NvmeSurvey, AnAdminQueueIsKnownByItsCommands) {
  for (const std::uint8_t opcode : std::array<std::uint8_t, 2>{0x06, 0x18}) {
    NvmeWire wire;
    wire.command(1, opcode);
    wire.ack();
    EXPECT_TRUE(wire.survey().queues().at(0).is_admin);
  }
}

TEST(NvmeSurvey, ListAndCancelAreOfIoQueues) {
  for (const std::uint8_t opcode : std::array<std::uint8_t, 2>{0x06, 0x18}) {
    NvmeWire wire;
    wire.command(1, opcode, 0x22, 1);
    wire.ack();
    EXPECT_FALSE(wire.survey().queues().at(0).is_admin);
  }
}

TEST(NvmeSurvey, KeepsNoMoreThanItMay) {
  constexpr std::size_t kMost = 16;
  NvmeWire wire{kMost};
  for (std::uint16_t id = 0; id < 5000; ++id) wire.command(id);
  wire.ack();
  // Twice as many things are kept: commands, and messages that belong to them.
  const std::vector<NvmeExchange> all = wire.finish();
  EXPECT_LE(all.size(), 2 * kMost);
  EXPECT_GE(all.size(), kMost);
  EXPECT_EQ(all.size() + wire.survey().uncounted(), 5000U);
}

TEST(NvmeSurvey, FollowsNoMoreQueuesThanItMay) {
  NvmeWire wire{100, 2};
  for (std::uint32_t qp = 1; qp <= 5; ++qp) wire.command(1, 2, 0x20 + qp);
  EXPECT_EQ(wire.survey().queues().size(), 2U);
  EXPECT_EQ(wire.survey().uncounted(), 3U);
}

}  // namespace
}  // namespace roce::analysis
