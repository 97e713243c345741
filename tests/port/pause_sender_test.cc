// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/pause_sender.h"

#include <gmock/gmock.h>

#include <optional>

#include "roce/port/pause_timers.h"
#include "roce/wire/mac_control.h"
#include "roce/wire/packet.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSpeed = 10'000'000'000;
constexpr Time kNow{1h};

/// A sender at one end of a wire, and the timers of the other end, which follow its frames if they arrive.
class Held : public testing::Test {
 protected:
  bool update(unsigned held, Time now, bool arrives = true) {
    const bool sends = sender_.update(static_cast<std::uint8_t>(held), now);
    if (sends) {
      EXPECT_EQ(sender_.frame().size(), 60U);
      const Packet packet = parse_frame(sender_.frame(), LinkType::ethernet);
      EXPECT_TRUE(packet.get<Pfc>().has_value());
      if (arrives) timers_.receive(packet, now);
    }
    return sends;
  }

  PauseSender sender_{{{2, 0, 0, 0, 0, 1}}, kSpeed};
  PauseTimers timers_{kSpeed};
};

TEST_F(Held, SaysNothingWhileNothingIsHeld) {
  EXPECT_FALSE(update(0, kNow));
  EXPECT_EQ(sender_.next_timeout(), kNever);
}

TEST_F(Held, HoldsWithoutAGapAndResumes) {
  EXPECT_TRUE(update(0b1000, kNow));
  EXPECT_FALSE(update(0b1000, kNow)) << "it was said";
  Time time = kNow;
  for (int i = 0; i < 10; ++i) {
    time = sender_.next_timeout();
    EXPECT_EQ(timers_.paused(time), 0b1000) << "said again before the pause ends";
    EXPECT_TRUE(update(0b1000, time));
  }
  EXPECT_GT(time - kNow, 10ms);
  EXPECT_TRUE(update(0, time + 1us));
  EXPECT_EQ(timers_.paused(time + 1us), 0);
  EXPECT_EQ(sender_.next_timeout(), kNever);
}

TEST_F(Held, HoldsEachPriorityByItself) {
  EXPECT_TRUE(update(0b0001, kNow));
  EXPECT_TRUE(update(0b1001, kNow + 1us));
  EXPECT_EQ(timers_.paused(kNow + 1us), 0b1001);
  EXPECT_TRUE(update(0b1000, kNow + 2us));
  EXPECT_EQ(timers_.paused(kNow + 2us), 0b1000);
  for (unsigned priority = 0; priority < 8; ++priority) {
    EXPECT_TRUE(update(1U << priority, kNow + 3us + Duration{priority}));
    EXPECT_EQ(timers_.paused(kNow + 4us), 1U << priority);
  }
}

TEST_F(Held, ALostFrameIsMadeUpForByTheNext) {
  EXPECT_TRUE(update(0b1000, kNow));
  EXPECT_TRUE(update(0b0000, kNow + 1us, false));
  EXPECT_TRUE(update(0b0100, kNow + 2us));
  EXPECT_EQ(timers_.paused(kNow + 2us), 0b0100);
}

}  // namespace
}  // namespace roce::port
