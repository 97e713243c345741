// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/loss_recovery_text.h"

#include <gmock/gmock.h>

namespace roce::transport {
namespace {

using namespace std::chrono_literals;

TEST(LossRecoveryText, HasAPartForEachMember) {
  const auto read = parse_loss_recovery(
      "held_requests=8,nak_again_after=100us,nak_delay_packets=3,nak_delay=20us,timer_from_first,adaptive_timeout,"
      "tail_probe,selective_repeat,restart_percent=10,held_responses=9,window_bytes=65536");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->held_requests, 8U);
  EXPECT_EQ(read->nak_again_after, 100us);
  EXPECT_EQ(read->nak_delay_packets, 3U);
  EXPECT_EQ(read->nak_delay, 20us);
  EXPECT_TRUE(read->timer_from_first && read->adaptive_timeout && read->tail_probe && read->selective_repeat);
  EXPECT_EQ(read->restart_percent, 10U);
  EXPECT_EQ(read->held_responses, 9U);
  EXPECT_EQ(read->window_bytes, 65536U);
}

TEST(LossRecoveryText, AllCanBeChangedByWhatFollows) {
  const auto read = parse_loss_recovery("all,held_requests=0");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->held_requests, 0U);
  EXPECT_TRUE(read->tail_probe);
  const auto none = parse_loss_recovery("");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->is_of_requester() || none->is_of_responder());
}

TEST(LossRecoveryText, SaysWhichPartIsWrongAndWhatWasExpected) {
  for (const auto& [text, expected] :
       {std::pair{"tail_probe=1", "tail_probe without a value"},
        std::pair{"held_requests", "held_requests=NUMBER of at most 4096"},
        std::pair{"held_requests=4097", "at most 4096"}, std::pair{"held_responses=4097", "at most 4096"},
        std::pair{"restart_percent=101", "at most 100"}, std::pair{"nak_delay=2s", "nak_delay=TIME of at most 1s"},
        std::pair{"nak_delay=20", "nak_delay=TIME"}, std::pair{"tail_probe,", "a part after the last comma"},
        std::pair{"tail_probe,,all", "found \"\""}, std::pair{"fast", "held_requests"}}) {
    const auto read = parse_loss_recovery(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error(), testing::HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace roce::transport
