// SPDX-License-Identifier: BSD-2-Clause
#include "roce/fabric/fabric.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fabric/run.h"
#include "roce/wire/packet.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::goodput_until;
using test::kFull;
using test::make;
using test::sum;

/// Keeps a hash (FNV-1a) of all frames with their times.
class Fingerprint : public Tap {
 public:
  void on_frame(PortId from, Bytes frame, Time now) override {
    add(from);
    add(static_cast<std::uint64_t>(now.time_since_epoch().count()));
    for (const std::byte byte : frame) step(std::to_integer<std::uint64_t>(byte));
    ++frames;
  }

  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  std::uint64_t frames = 0;

 private:
  void step(std::uint64_t byte) { hash = (hash ^ byte) * 0x0000'0100'0000'01B3; }
  void add(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) step(value >> shift & 0xFFU);
  }
};

/// Runs a small Clos with everything that has to do with chance, and hashes what every link carries.
[[nodiscard]] std::uint64_t fingerprint(std::uint64_t seed) {
  Config config{.seed = seed};
  config.hosts.congestion = congestion::DcqcnParameters{};
  config.hosts.timeout = 5;
  config.switches.red = Red{.kmin = 5'000, .kmax = 50'000, .pmax = 0.1};
  config.switches.pfc = Pfc{.xoff = 60'000};
  std::vector<Flow> flows;
  add_permutation(flows, 8, 300'000, seed, {});
  add_random_load(flows, {.hosts = 8, .length = 200us, .sizes = {{1'000, 0.5}, {100'000, 1}}}, seed, {});
  Fabric fabric = make(clos(2, 2, 4, {}, {.loss = 0.001}), config, flows);
  Fingerprint tap;
  for (std::uint32_t link = 0; link < fabric.topology().links.size(); ++link) fabric.set_tap(link, &tap);
  fabric.run_until(Time{2ms});
  EXPECT_GT(tap.frames, 5000U);
  EXPECT_GT(fabric.totals().marked, 0U);
  EXPECT_GT(fabric.totals().lost, 0U);
  return tap.hash;
}

TEST(Fabrics, TheSameSeedGivesTheSameBytesAtTheSameTimes) {
  const std::uint64_t first = fingerprint(1);
  EXPECT_EQ(fingerprint(1), first);
  EXPECT_NE(fingerprint(2), first);
}

TEST(Fabrics, AFlowTakesTheTimeOfItsBytesAndItsWay) {
  // 1000 packets: 54 bytes of headers and 4 of ICRC each; the first has a RETH, the last an immediate. At 25 Gbit/s
  // a byte takes 0.32 ns. A switch passes a frame on once it has come, so the first one counts twice.
  constexpr double bytes = 1000 * (1024 + 58 + 24) + 16 + 4;
  constexpr double first_packet = 1024 + 58 + 24 + 16;
  Fabric on_a_link = make(pair({}), {}, {{.from = 0, .to = 1, .bytes = 1'024'000}});
  on_a_link.run_until(Time{10ms});
  EXPECT_NEAR(static_cast<double>(on_a_link.now().time_since_epoch().count()), bytes * 0.32 + 1000, 2);
  Fabric over_a_switch = make(star(2, {}), {}, {{.from = 0, .to = 1, .bytes = 1'024'000}});
  over_a_switch.run_until(Time{10ms});
  const double expected = bytes * 0.32 + 2000 + first_packet * 0.32;
  EXPECT_NEAR(static_cast<double>(over_a_switch.now().time_since_epoch().count()), expected, 2);
  EXPECT_NEAR(static_cast<double>(over_a_switch.ideal_time(0).count()), expected, 10);
  EXPECT_TRUE(over_a_switch.is_done());
}

TEST(Fabrics, AFlowIsDeliveredInFullAndOnlyThenFinished) {
  Fabric fabric = make(star(2, {}), {}, {{.from = 0, .to = 1, .bytes = 5'000'001, .start = 100us}});
  fabric.run_until(Time{99us});
  EXPECT_FALSE(fabric.flow_state(0).started);
  fabric.run_until(Time{1ms});
  const FlowState half = fabric.flow_state(0);
  EXPECT_FALSE(half.finished);
  // 900 us less 2 us of delay, in packets that have come.
  EXPECT_NEAR(static_cast<double>(half.delivered), kFull / 8 * 897.6e-6, 2048);
  fabric.run_until(Time{10ms});
  EXPECT_TRUE(fabric.flow_state(0).finished);
  EXPECT_EQ(fabric.flow_state(0).delivered, 5'000'001U);
}

TEST(Fabrics, QueuePairsOfAHostShareItsLink) {
  Fabric fabric =
      make(star(3, {}), {}, {{.from = 0, .to = 1, .bytes = kEndless}, {.from = 0, .to = 2, .bytes = kEndless}});
  const std::vector<double> rates = goodput_until(fabric, Time{2ms});
  EXPECT_NEAR(rates[0], kFull / 2, kFull / 50);
  EXPECT_NEAR(rates[1], kFull / 2, kFull / 50);
}

TEST(Fabrics, FlowsOfOneConnectionGoOneAfterTheOther) {
  const Flow flow{.from = 0, .to = 1, .bytes = 100'000};
  Flow other = flow;
  other.connection = 1;
  Fabric fabric = make(star(2, {}), {}, {flow, flow, other});
  fabric.run_until(Time{10ms});
  EXPECT_GT(*fabric.flow_state(1).finished, *fabric.flow_state(0).finished);
  // The third shares the link with the first, and is done long before the second.
  EXPECT_LT(*fabric.flow_state(2).finished, *fabric.flow_state(1).finished);
}

TEST(Fabrics, AFlowWaitsForTheOneBeforeIt) {
  Fabric fabric =
      make(star(3, {}), {}, {{.from = 0, .to = 1, .bytes = 100'000}, {.from = 1, .to = 2, .bytes = 1000, .after = 0}});
  fabric.run_until(Time{10ms});
  EXPECT_EQ(fabric.flow_state(1).started, fabric.flow_state(0).finished);
}

TEST(Fabrics, WhatALinkLosesIsSentAgain) {
  Config config;
  config.hosts.timeout = 6;
  Fabric fabric = make(star(2, {.loss = 0.005}), config, {{.from = 0, .to = 1, .bytes = 3'000'000}});
  fabric.run_until(Time{1s});
  EXPECT_TRUE(fabric.flow_state(0).finished);
  EXPECT_GT(fabric.totals().lost, 5U);
  EXPECT_GT(sum(fabric, &transport::Counters::retransmitted_packets), 0U);
}

TEST(Fabrics, AFlowWhosePeerCannotBeReachedFails) {
  Config config;
  config.hosts.timeout = 1;
  Fabric fabric = make(star(2, {.loss = 1}), config, {{.from = 0, .to = 1, .bytes = 1000}});
  fabric.run_until(Time{1s});
  EXPECT_TRUE(fabric.flow_state(0).failed);
  EXPECT_FALSE(fabric.flow_state(0).finished);
  EXPECT_TRUE(fabric.is_done());
}

TEST(Fabrics, EqualWaysAreUsedAlikeAndEachFlowKeepsIts) {
  // 64 connections from each of eight hosts to another leaf, over four spines.
  std::vector<Flow> flows;
  for (std::uint32_t i = 0; i < 512; ++i) {
    flows.push_back({.from = i % 8, .to = 8 + i / 8 % 8, .bytes = 8192, .connection = i / 64});
  }
  Fabric fabric = make(clos(2, 4, 8, {}, {}), {}, flows);
  fabric.run_until(Time{100ms});
  ASSERT_TRUE(fabric.is_done());
  std::vector<std::uint64_t> up;
  for (PortId port = 0; port < fabric.ports(); ++port) {
    if (fabric.name_of(port).starts_with("leaf0>spine")) up.push_back(fabric.counters(port).frames);
  }
  ASSERT_EQ(up.size(), 4U);
  // Each flow has eight packets on its way; 128 flows a spine are expected, with a deviation of 10.
  for (const std::uint64_t frames : up) EXPECT_NEAR(static_cast<double>(frames), 1024, 320);
  // Packets of a flow do not overtake one another: nobody saw a gap.
  EXPECT_EQ(sum(fabric, &transport::Counters::out_of_sequence), 0U);
  EXPECT_EQ(sum(fabric, &transport::Counters::retransmitted_packets), 0U);
}

TEST(Fabrics, AFatTreeHasAWayBetweenAllHosts) {
  std::vector<Flow> flows;
  add_all_to_all(flows, 16, 2000, {});
  Fabric fabric = make(fat_tree(4, {}, {}), {}, flows);
  fabric.run_until(Time{100ms});
  EXPECT_TRUE(fabric.is_done());
  EXPECT_EQ(flows.size(), 240U);
}

}  // namespace
}  // namespace roce::fabric
