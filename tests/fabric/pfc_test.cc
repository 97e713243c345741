// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "fabric/run.h"
#include "roce/wire/mac_control.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::goodput_until;
using test::kFull;
using test::make;
using test::sum;

constexpr LinkSpec kForty{.rate_bps = 40'000'000'000};

/// Eight hosts send 1 MB each to host 0 on one switch, whose buffer holds an eighth of that.
[[nodiscard]] Fabric incast(const std::optional<Pfc>& pfc) {
  Config config;
  config.hosts.timeout = 8;
  config.switches.buffer = 1'000'000;
  config.switches.pfc = pfc;
  constexpr std::array<NodeId, 8> senders{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Flow> flows;
  add_incast(flows, senders, 0, 1'000'000, {});
  return make(star(9, kForty), config, flows);
}

TEST(Pfcs, WithTheRightHeadroomNothingIsDropped) {
  Fabric fabric = incast(Pfc{.xoff = 20'000});
  fabric.run_until(Time{50ms});
  EXPECT_TRUE(fabric.is_done());
  EXPECT_EQ(fabric.totals().dropped, 0U);
  EXPECT_GT(fabric.totals().xoffs, 0U);
  EXPECT_EQ(sum(fabric, &transport::Counters::retransmitted_packets), 0U);
  // The port to the receiver never rests: 8 MB need 1.73 ms.
  EXPECT_LT(fabric.now(), Time{1750us});
}

TEST(Pfcs, WithHalfOfItFramesAreDropped) {
  const std::uint64_t needed = needed_headroom(kForty, largest_frame(1024));
  // 2 us both ways at 40 Gbit/s, three frames, and two PFC frames.
  EXPECT_NEAR(static_cast<double>(needed), 10'000 + 3 * 1144 + 2 * 84, 1);
  Fabric fabric = incast(Pfc{.xoff = 20'000, .headroom = needed / 2});
  fabric.run_until(Time{100ms});
  EXPECT_GT(fabric.totals().dropped, 0U);
  EXPECT_GT(sum(fabric, &transport::Counters::retransmitted_packets), 0U);
}

TEST(Pfcs, WithoutPfcTheBufferOverflows) {
  Fabric fabric = incast({});
  fabric.run_until(Time{100ms});
  EXPECT_GT(fabric.totals().dropped, 0U);
  EXPECT_EQ(fabric.totals().xoffs, 0U);
}

TEST(Pfcs, ADynamicThresholdFollowsTheFreeBuffer) {
  // Eight ports at 1/8 of what is free each: they settle where each has 1/16 of the buffer, and the rest is free.
  Fabric fabric = incast(Pfc{.alpha = 0.125});
  fabric.run_until(Time{500us});
  const double shared = 1'000'000 - 9 * (4'000.0 + 10'000 + 3 * 1144 + 2 * 84);
  const auto queue = static_cast<double>(fabric.queue_bytes(1, 3));
  EXPECT_EQ(fabric.totals().dropped, 0U);
  EXPECT_GT(queue, shared / 2 * 0.8);
  EXPECT_LT(queue, shared / 2 + 9 * 17'000);
}

/// Looks at frames of flow control.
class PauseFrames : public Tap {
 public:
  void on_frame(PortId from, Bytes frame, Time /*now*/) override {
    const std::optional<roce::Pfc> pfc = parse_frame(frame, LinkType::ethernet).get<roce::Pfc>();
    if (!pfc) return;
    ++count[from & 1U];
    if (pfc->enabled(3) && pfc->timer(3) == 0xFFFF) ++stops;
    if (pfc->enabled(3) && pfc->timer(3) == 0) ++resumes;
    others += pfc->enabled(0) || pfc->enabled(6) ? 1U : 0U;
  }

  std::array<std::uint32_t, 2> count{};
  std::uint32_t stops = 0;
  std::uint32_t resumes = 0;
  std::uint32_t others = 0;
};

TEST(Pfcs, PausesAreFramesOfTheLossPriorityOnTheLink) {
  Fabric fabric = incast(Pfc{.xoff = 20'000});
  PauseFrames frames;
  fabric.set_tap(1, &frames);
  fabric.run_until(Time{50ms});
  EXPECT_EQ(frames.count[0], 0U) << "the host stops nobody";
  EXPECT_GT(frames.stops, 0U);
  EXPECT_EQ(frames.stops, frames.resumes);
  EXPECT_EQ(frames.others, 0U);
  EXPECT_EQ(frames.stops, fabric.counters(3).xoffs);
  EXPECT_GT(fabric.paused_time(2, 3), 1ms) << "the host sends an eighth of the time";
  EXPECT_EQ(fabric.paused_time(2, 0), 0ns);
}

/// Two hosts behind one switch send through a fast link: host 0 to where seven others send, too, and host 1, the
/// victim, to a host that is idle otherwise. Returns the victim's share of what it could have.
[[nodiscard]] double victim(const congestion::Choice& congestion) {
  Config config;
  config.hosts.congestion = congestion;
  config.switches.red = Red{.kmin = 5'000, .kmax = 100'000, .pmax = 0.05};
  config.switches.pfc = Pfc{.xoff = 150'000};
  std::vector<Flow> flows{{.from = 1, .to = 3, .bytes = kEndless}};
  constexpr std::array<NodeId, 8> senders{0, 4, 5, 6, 7, 8, 9, 10};
  add_incast(flows, senders, 2, kEndless, {});
  Fabric fabric = make(dumbbell(2, 9, {}, {.rate_bps = 100'000'000'000}), config, flows);
  fabric.run_until(Time{10ms});
  const double share = goodput_until(fabric, Time{20ms})[0] / kFull;
  EXPECT_EQ(fabric.totals().dropped, 0U);
  return share;
}

TEST(Pfcs, AVictimSuffersFromPausesAlone) {
  EXPECT_LT(victim({}), 0.6);
}

TEST(Pfcs, AVictimKeepsItsRateWithDcqcn) {
  EXPECT_GT(victim(congestion::DcqcnParameters{}), 0.9);
}

/// A ring of four switches on which everything goes clockwise, three links far: the burst at the beginning fills all.
[[nodiscard]] Fabric circle(const std::optional<Watchdog>& watchdog) {
  Config config;
  config.hosts.timeout = 8;  // 1 ms
  config.hosts.congestion = congestion::DcqcnParameters{};
  config.switches.buffer = 1'000'000;
  config.switches.red = Red{.kmin = 2'000, .kmax = 10'000, .pmax = 1};
  config.switches.pfc = Pfc{.xoff = 20'000};
  config.switches.watchdog = watchdog;
  std::vector<Flow> flows;
  for (NodeId host = 0; host < 4; ++host) flows.push_back({.from = host, .to = (host + 3) % 4, .bytes = 2'000'000});
  return make(ring(4, 1, Routing::clockwise, {}, {}), config, flows);
}

TEST(Pfcs, ACircleOfPausesIsADeadlock) {
  Fabric fabric = circle({});
  fabric.run_until(Time{3ms});
  const std::vector<double> rates = goodput_until(fabric, Time{6ms});
  EXPECT_EQ(std::accumulate(rates.begin(), rates.end(), 0.0), 0) << "nothing moves";
  std::vector<std::string> names;
  for (const PortId port : fabric.find_deadlock()) names.push_back(fabric.name_of(port));
  EXPECT_THAT(names, testing::UnorderedElementsAre("s0>s1", "s1>s2", "s2>s3", "s3>s0"));
  EXPECT_EQ(fabric.totals().dropped, 0U);
}

TEST(Pfcs, TheWatchdogEndsIt) {
  Fabric fabric = circle(Watchdog{.detection = 500us, .restoration = 500us});
  fabric.run_until(Time{500ms});
  EXPECT_TRUE(fabric.is_done());
  EXPECT_FALSE(fabric.watchdog_events().empty());
  EXPECT_GT(fabric.totals().watchdog_drops, 0U);
  EXPECT_TRUE(fabric.find_deadlock().empty());
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(fabric.flow_state(i).finished);
}

TEST(Pfcs, TheWatchdogLeavesPausesAloneThatEnd) {
  Config config;
  config.switches.pfc = Pfc{.xoff = 20'000};
  config.switches.watchdog = Watchdog{.detection = 500us, .restoration = 500us};
  std::vector<Flow> flows;
  constexpr std::array<NodeId, 3> senders{0, 1, 2};
  add_incast(flows, senders, 3, 5'000'000, {});
  Fabric fabric = make(dumbbell(3, 1, {}, {}), config, flows);
  fabric.run_until(Time{100ms});
  EXPECT_TRUE(fabric.is_done());
  EXPECT_GT(fabric.totals().xoffs, 0U);
  EXPECT_TRUE(fabric.watchdog_events().empty());
}

/// Host 2 stops priority 3 of the switch from 1 ms to 3 ms. Hosts 0 and 3 send to host 1, and host 0 to host 2, too.
[[nodiscard]] Fabric storm(const Config& config) {
  Config stormy = config;
  stormy.switches.pfc = Pfc{.xoff = 50'000};
  stormy.storms = {{.host = 2, .priority = 3, .start = 1ms, .duration = 2ms}};
  return make(star(5, {}), stormy,
              {{.from = 0, .to = 1, .bytes = kEndless},
               {.from = 3, .to = 1, .bytes = kEndless},
               {.from = 0, .to = 2, .bytes = kEndless},
               {.from = 4, .to = 2, .bytes = kEndless, .priority = 1}});
}

TEST(Storms, StopWhoeverSendsThroughTheStoppedQueueAndNobodyElse) {
  Fabric fabric = storm({});
  fabric.run_until(Time{500us});
  EXPECT_GT(goodput_until(fabric, Time{1ms})[0], kFull * 0.4);
  fabric.run_until(Time{1100us});
  const std::vector<double> rates = goodput_until(fabric, Time{3ms});
  // Host 0 is stopped for what waits for host 2: its flow to host 1 as well, whose way is free.
  EXPECT_EQ(rates[2], 0);
  EXPECT_LT(rates[0], kFull * 0.01);
  EXPECT_NEAR(rates[1], kFull, kFull * 0.01);
  EXPECT_NEAR(rates[3], kFull, kFull * 0.01) << "another priority of the same port";
  fabric.run_until(Time{3100us});
  const std::vector<double> again = goodput_until(fabric, Time{4ms});
  EXPECT_GT(again[0], kFull * 0.4);
  EXPECT_GT(again[2], kFull * 0.3);
  EXPECT_EQ(fabric.totals().dropped, 0U);
  EXPECT_EQ(sum(fabric, &transport::Counters::timeouts), 0U);
}

TEST(Storms, AreEndedByTheWatchdogForWhoeverSendsElsewhere) {
  Config config;
  config.switches.watchdog = Watchdog{.detection = 200us, .restoration = 5ms};
  Fabric fabric = storm(config);
  fabric.run_until(Time{1300us});
  const std::vector<double> rates = goodput_until(fabric, Time{3ms});
  EXPECT_NEAR(rates[0], kFull / 2, kFull * 0.05);
  EXPECT_EQ(rates[2], 0);
  ASSERT_THAT(fabric.watchdog_events(), testing::Not(testing::IsEmpty()));
  EXPECT_GT(fabric.totals().watchdog_drops, 0U);
}

TEST(Storms, LastToTheEndOfTheRunIfNothingElseIsSaid) {
  Config config;
  config.switches.pfc = Pfc{.xoff = 50'000};
  config.storms = {{.host = 1, .priority = 3, .start = 1ms}};
  Fabric fabric = make(star(2, {}), config, {{.from = 0, .to = 1, .bytes = kEndless}});
  fabric.run_until(Time{1100us});
  EXPECT_EQ(goodput_until(fabric, Time{20ms})[0], 0);
  // Stopped for longer than a pause of 65,535 quanta lasts: 1.3 ms at this speed.
  EXPECT_EQ(fabric.totals().xoffs, 2U) << "the host stops the switch, and the switch host 0";
  EXPECT_EQ(fabric.counters(2).xoffs, 1U) << "of the host";
  EXPECT_GT(fabric.paused_time(3, 3), 18ms) << "the port of the switch to host 1";
}

}  // namespace
}  // namespace roce::fabric
