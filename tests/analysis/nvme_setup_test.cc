// SPDX-License-Identifier: BSD-2-Clause
// Queues of NVMe by the CM's messages, frame by frame: QPNs and identifiers that other connections use again.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "analysis/nvme_wire.h"

namespace roce::analysis {
namespace {

constexpr std::uint32_t kHostQp = 0x11, kTargetQp = 0x22;
constexpr std::uint16_t kOtherPort = 5000;

/// A connection of NVMe that has been set up, with identifier 1.
struct ConnectedWire : NvmeWire {
  ConnectedWire() : NvmeWire{NvmeSurveyOptions{}} {
    request(1, kHostQp);
    reply(1, kTargetQp);
  }
};

TEST(NvmeSetUp, MakesAQueueThatItsReleaseCloses) {
  ConnectedWire wire;
  wire.command(1);
  wire.ack();
  wire.release(1, kTargetQp);
  const std::vector<NvmeExchange> all = wire.finish();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].end, NvmeEnd::unanswered);
  const std::vector<NvmeQueue> queues = wire.survey().queues();
  ASSERT_EQ(queues.size(), 1U);
  EXPECT_EQ(queues[0].queue_id, 1);
  EXPECT_EQ(queues[0].host_qp, Qpn{kHostQp});
  EXPECT_EQ(queues[0].target_qp, Qpn{kTargetQp});
  EXPECT_TRUE(queues[0].is_closed);
}

TEST(NvmeSetUp, OfWhichTheReplyIsMissingIsClosedByTheTarget) {
  NvmeWire wire{NvmeSurveyOptions{.targets = {kTarget}}};
  wire.request(1, kHostQp);
  wire.command(1);
  wire.ack();
  wire.response(1);
  wire.command(2);
  wire.release_by_target(1, kHostQp);
  (void)wire.finish();
  const std::vector<NvmeQueue> queues = wire.survey().queues();
  ASSERT_FALSE(queues.empty());
  for (const NvmeQueue& queue : queues) EXPECT_TRUE(queue.is_closed || queue.commands == 0);
}

TEST(NvmeSetUp, ThatIsOverMakesNoQueue) {
  ConnectedWire released;
  released.release(1, kTargetQp);
  released.command(1);
  released.response(1);
  EXPECT_EQ(released.survey().queues().size(), 0U);

  ConnectedWire rejected;
  rejected.reject(1);
  rejected.command(1);
  rejected.response(1);
  EXPECT_EQ(rejected.survey().queues().size(), 0U);
}

TEST(NvmeSetUp, AQpnOfTheHostThatServesAnotherPortIsNoQueueAnyMore) {
  ConnectedWire wire;
  wire.request(2, kHostQp, kOtherPort);
  wire.reply(2, 0x33);
  wire.response(1);
  wire.command(1, 2, 0x33);
  EXPECT_EQ(wire.survey().queues().size(), 0U);
}

TEST(NvmeSetUp, AQpnOfTheTargetThatAnswersAnotherRequestIsNoQueueAnyMore) {
  ConnectedWire wire;
  wire.reply(7, kTargetQp);
  wire.command(1);
  wire.response(1);
  EXPECT_EQ(wire.survey().queues().size(), 0U);
}

TEST(NvmeSetUp, AUsedQueueDoesNotTakeWhatItsQpnsCarryLater) {
  ConnectedWire wire;
  wire.command(1);
  wire.response(1);
  wire.release(1, kTargetQp);
  wire.request(2, kHostQp, kOtherPort);
  wire.reply(2, 0x33);
  wire.command(2, 2, 0x33);
  wire.response(2);
  (void)wire.finish();
  const std::vector<NvmeQueue> queues = wire.survey().queues();
  std::uint64_t commands = 0;
  for (const NvmeQueue& queue : queues) {
    commands += queue.commands;
    EXPECT_EQ(queue.responses_without_command, 0U);
  }
  EXPECT_EQ(commands, 1U);
}

TEST(NvmeSetUp, ARequestThatIsSentAgainChangesNothing) {
  ConnectedWire wire;
  wire.request(1, kHostQp);
  wire.reply(1, kTargetQp);
  wire.command(1);
  wire.response(1);
  ASSERT_EQ(wire.survey().queues().size(), 1U);
  EXPECT_EQ(wire.survey().queues()[0].queue_id, 1);
}

TEST(NvmeSetUp, NothingIsKeptOfRequestsWithTheSameIdentifier) {
  NvmeWire wire{NvmeSurveyOptions{.most_queues = 2}};
  constexpr std::uint32_t kFirst = 0x1000, kCount = 500;
  for (std::uint32_t i = 0; i < kCount; ++i) wire.request(1, kFirst + i);
  EXPECT_EQ(wire.survey().uncounted(), 0U);
  for (std::uint32_t i = 0; i < kCount; ++i) wire.response(1, kFirst + i);
  // That of the last one alone.
  ASSERT_EQ(wire.survey().queues().size(), 1U);
  EXPECT_EQ(wire.survey().queues()[0].host_qp, Qpn{kFirst + kCount - 1});
  EXPECT_EQ(wire.survey().uncounted(), 0U);
}

TEST(NvmeSetUp, KeepsNoMoreRequestsThanItMay) {
  NvmeWire wire{NvmeSurveyOptions{.most_queues = 2}};
  for (std::uint32_t i = 1; i <= 10; ++i) wire.request(i, 0x1000 + i);
  EXPECT_EQ(wire.survey().uncounted(), 8U);
}

TEST(NvmeSetUp, OneThatIsOverLeavesRoomForAnother) {
  NvmeWire wire{NvmeSurveyOptions{.most_queues = 2}};
  for (std::uint32_t i = 1; i <= 10; ++i) {
    wire.request(i, 0x1000 + i);
    wire.reply(i, 0x2000 + i);
    if (i < 10) wire.release(i, 0x2000 + i);
  }
  wire.command(1, 2, 0x2000 + 10);
  EXPECT_EQ(wire.survey().uncounted(), 0U);
  EXPECT_EQ(wire.survey().queues().size(), 1U);
}

}  // namespace
}  // namespace roce::analysis
