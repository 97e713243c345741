// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include "fabric/run.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::expect_parts;
using test::goodput_until;
using test::kFull;
using test::make;

/// Hosts 1, 2 … send without end to host 0 by priorities 0, 1 …, with packets of mixed sizes. All priorities are
/// lossless, so each queue always has something to send.
[[nodiscard]] Fabric contest(const std::array<std::uint32_t, 8>& weights, const std::vector<Flow>& flows) {
  Config config;
  config.switches.weights = weights;
  config.switches.pfc = Pfc{.priorities = 0x0F, .xoff = 100'000};
  return make(star(6, {}), config, flows);
}

/// Bytes of a frame beside the payload of its packet in the middle of a message.
constexpr std::uint32_t kFrame = 58;

TEST(Queues, WeightsAreKeptByBytesWhateverThePacketsSizes) {
  const std::vector<Flow> flows{{.from = 1, .to = 0, .bytes = kEndless, .priority = 0, .mtu = 4096},
                                {.from = 2, .to = 0, .bytes = kEndless, .priority = 1, .mtu = 256},
                                {.from = 3, .to = 0, .bytes = kEndless, .priority = 2, .mtu = 1024}};
  Fabric fabric = contest({70, 20, 10, 1, 1, 1, 0, 0}, flows);
  fabric.run_until(Time{1ms});
  expect_parts(fabric, goodput_until(fabric, Time{11ms}), kFrame, {0.7, 0.2, 0.1});
}

TEST(Queues, TheShareOfAnIdleQueueGoesToTheOthersByWeight) {
  const std::vector<Flow> flows{{.from = 2, .to = 0, .bytes = kEndless, .priority = 1},
                                {.from = 3, .to = 0, .bytes = kEndless, .priority = 2}};
  Fabric fabric = contest({70, 20, 10, 1, 1, 1, 0, 0}, flows);
  fabric.run_until(Time{1ms});
  const std::vector<double> rates = goodput_until(fabric, Time{11ms});
  EXPECT_NEAR(rates[0], kFull * 2 / 3, kFull * 0.015);
  EXPECT_NEAR(rates[1], kFull / 3, kFull * 0.01);
}

TEST(Queues, AStrictQueueGoesFirst) {
  const std::vector<Flow> flows{{.from = 1, .to = 0, .bytes = kEndless, .priority = 0},
                                {.from = 2, .to = 0, .bytes = 500'000, .start = 1ms, .priority = 6}};
  Fabric fabric = contest({1, 1, 1, 1, 1, 1, 0, 0}, flows);
  fabric.run_until(Time{50ms});
  const Duration took = *fabric.flow_state(1).finished - *fabric.flow_state(1).started;
  // It waits for one frame at most, at the beginning.
  EXPECT_LT(took, fabric.ideal_time(1) + 400ns);
}

TEST(Queues, APausedPriorityHoldsUpNoOther) {
  // Priority 0 is stuck behind host 2, to which three hosts send; priority 1 goes by the same hosts and links.
  const std::vector<Flow> flows{{.from = 1, .to = 0, .bytes = kEndless, .priority = 0},
                                {.from = 3, .to = 0, .bytes = kEndless, .priority = 0},
                                {.from = 4, .to = 0, .bytes = kEndless, .priority = 0},
                                {.from = 1, .to = 2, .bytes = kEndless, .priority = 1}};
  Fabric fabric = contest({1, 1, 1, 1, 1, 1, 0, 0}, flows);
  fabric.run_until(Time{1ms});
  const std::vector<double> rates = goodput_until(fabric, Time{5ms});
  EXPECT_NEAR(rates[0], kFull / 3, kFull * 0.02);
  EXPECT_NEAR(rates[3], kFull * 2 / 3, kFull * 0.02);
}

TEST(Queues, MarksBeginAtKminAndAreCertainBeyondKmax) {
  // Two hosts of 25 Gbit/s into one link: the queue grows by 25 Gbit/s, and the packets that leave are marked.
  Config config;
  config.switches.red = Red{.kmin = 50'000, .kmax = 100'000, .pmax = 0.5};
  config.hosts.sends_cnps = false;
  const std::vector<Flow> flows{{.from = 1, .to = 0, .bytes = kEndless}, {.from = 2, .to = 0, .bytes = kEndless}};
  Fabric fabric = make(star(3, {}), config, flows);
  // About 15.6 us until 50 KB wait, and as long again until 100 KB do.
  fabric.run_until(Time{17us});
  EXPECT_EQ(fabric.totals().marked, 0U);
  fabric.run_until(Time{50us});
  const std::uint64_t before = fabric.totals().marked;
  const std::uint64_t frames = fabric.counters(1).frames;
  EXPECT_GT(before, 0U);
  fabric.run_until(Time{100us});
  EXPECT_EQ(fabric.totals().marked - before, fabric.counters(1).frames - frames);
  EXPECT_GT(fabric.host_counters(0).ce_received, 0U);
}

}  // namespace
}  // namespace roce::fabric
