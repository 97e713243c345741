// SPDX-License-Identifier: BSD-2-Clause
// The share of a link of 40 Gbit/s that one flow has under random loss, both ways (transport::LossRecovery).
#include <gtest/gtest.h>

#include "fabric/run.h"
#include "roce/transport/loss_recovery_text.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::goodput_until;
using test::make;

/// Returns the share of a link that a flow has for some time: the round trip is twice the delay.
[[nodiscard]] double share(double loss, Duration delay, std::string_view recovery, Duration time = 20ms) {
  Config config;
  config.hosts.profile.recovery = transport::parse_loss_recovery(recovery).value();
  const LinkSpec link{.rate_bps = 40'000'000'000, .delay = delay, .loss = loss};
  Fabric fabric = make(pair(link), config, {{.from = 0, .to = 1, .bytes = kEndless}});
  constexpr double full = 40e9 * 1024 / 1106;
  return goodput_until(fabric, Time{time})[0] / full;
}

TEST(LossRecovery, NothingAboutLossesIsTheSpecification) {
  EXPECT_LT(share(0.01, 5us, "", 500ms), 0.1);
}

TEST(LossRecovery, AllOfItLeavesNearlyAllOfTheLinkAtARoundTripOf10us) {
  EXPECT_GT(share(0.001, 5us, "all"), 0.99);
  EXPECT_GT(share(0.01, 5us, "all"), 0.95);
  EXPECT_GT(share(0.05, 5us, "all"), 0.4);
}

TEST(LossRecovery, ALongerRoundTripNeedsMoreHeldRequests) {
  EXPECT_LT(share(0.001, 50us, "all,held_requests=512"), 0.85);
  EXPECT_GT(share(0.001, 50us, "all"), 0.95);
  EXPECT_GT(share(0.01, 50us, "all"), 0.35);
  EXPECT_GT(share(0.05, 50us, "all"), 0.2);
}

TEST(LossRecovery, RepeatedNaksAloneMakeAnEndOfLongSilences) {
  EXPECT_GT(share(0.01, 5us, "nak_again_after=20us"), 0.5);
}

TEST(LossRecovery, AnAdaptiveTimerAloneDoes) {
  EXPECT_GT(share(0.01, 5us, "adaptive_timeout"), 0.3);
}

TEST(LossRecovery, ATimerWaitsForAPacketThatAsksOnASlowLink) {
  Config config;
  config.hosts.profile.recovery = {.timer_from_first = true, .adaptive_timeout = true};
  // 64 packets, of which one asks, take half a millisecond.
  const LinkSpec link{.rate_bps = 1'000'000'000, .delay = 5us};
  Fabric fabric = make(pair(link), config, {{.from = 0, .to = 1, .bytes = kEndless}});
  fabric.run_until(Time{20ms});
  EXPECT_EQ(test::sum(fabric, &transport::Counters::timeouts), 0U);
  EXPECT_EQ(test::sum(fabric, &transport::Counters::retransmitted_packets), 0U);
}

}  // namespace
}  // namespace roce::fabric
