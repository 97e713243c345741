// SPDX-License-Identifier: BSD-2-Clause
// How a host divides its link among priorities.
#include <gmock/gmock.h>

#include <numeric>

#include "fabric/run.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::expect_parts;
using test::goodput_until;
using test::kFull;
using test::make;
using transport::TrafficClasses;
using transport::TransmissionSelection;

/// Each priority is a class of its own; those without a share are strict.
[[nodiscard]] TrafficClasses shares(const std::array<std::uint8_t, 8>& percent) {
  TrafficClasses classes;
  std::iota(classes.class_of.begin(), classes.class_of.end(), std::uint8_t{0});
  classes.percent = percent;
  for (std::size_t i = 0; i < percent.size(); ++i) {
    classes.selection[i] = percent[i] == 0 ? TransmissionSelection::strict : TransmissionSelection::ets;
  }
  return classes;
}

[[nodiscard]] Fabric two_hosts(const TrafficClasses& classes, const std::vector<Flow>& flows) {
  Config config;
  config.hosts.traffic_classes = classes;
  return make(pair({}), config, flows);
}

/// Bytes of the wire beside the payload of a packet in the middle of a message, with FCS, preamble and gap.
constexpr std::uint32_t kWire = 82;

/// A flow from host 0 to host 1 that never ends.
[[nodiscard]] Flow endless(std::uint8_t priority, std::uint32_t mtu = 1024) {
  return {.from = 0, .to = 1, .bytes = kEndless, .priority = priority, .mtu = mtu};
}

TEST(Shares, AreKeptByBytesWhateverThePacketsSizes) {
  Fabric fabric = two_hosts(shares({70, 20, 10}), {endless(0, 4096), endless(1, 256), endless(2, 1024)});
  fabric.run_until(Time{1ms});
  expect_parts(fabric, goodput_until(fabric, Time{11ms}), kWire, {0.7, 0.2, 0.1});
}

TEST(Shares, AreThoseOfClassesNotOfQueuePairs) {
  TrafficClasses classes = shares({60, 40});
  classes.class_of[5] = 1;
  std::vector<Flow> flows{endless(0), endless(1), endless(5)};
  for (std::uint32_t i = 1; i < 4; ++i) {
    flows.push_back(endless(1));
    flows.back().connection = i;
  }
  Fabric fabric = two_hosts(classes, flows);
  fabric.run_until(Time{1ms});
  const std::vector<double> rates = goodput_until(fabric, Time{11ms});
  EXPECT_NEAR(rates[0], kFull * 0.6, kFull * 0.012);
  // In a class priorities take turns, and so do the queue pairs of a priority.
  EXPECT_NEAR(rates[2], kFull * 0.2, kFull * 0.004);
  for (const std::size_t i : {1U, 3U, 4U, 5U}) EXPECT_NEAR(rates[i], kFull * 0.05, kFull * 0.002);
}

TEST(Shares, OfAnIdleClassGoToTheOthersByTheirShares) {
  Fabric fabric = two_hosts(shares({70, 20, 10}), {endless(1), endless(2)});
  fabric.run_until(Time{1ms});
  const std::vector<double> rates = goodput_until(fabric, Time{11ms});
  EXPECT_NEAR(rates[0], kFull * 2 / 3, kFull * 0.0134);
  EXPECT_NEAR(rates[1], kFull / 3, kFull * 0.0067);
}

TEST(Shares, AreNotSavedUp) {
  // The class of priority 0 is idle for 5 ms, and gets its share from then on, not what it did without before.
  Flow late = endless(0);
  late.start = 5ms;
  Fabric fabric = two_hosts(shares({50, 50}), {late, endless(1)});
  fabric.run_until(Time{5ms});
  const std::vector<double> rates = goodput_until(fabric, Time{6ms});
  EXPECT_NEAR(rates[0], kFull / 2, kFull * 0.01);
  EXPECT_NEAR(rates[1], kFull / 2, kFull * 0.01);
}

TEST(Shares, AStrictClassGoesFirst) {
  const std::vector<Flow> flows{endless(0),
                                {.from = 0, .to = 1, .bytes = 500'000, .start = 1ms, .priority = 3},
                                {.from = 0, .to = 1, .bytes = 500'000, .start = 1ms, .priority = 6}};
  Fabric fabric = two_hosts(shares({100}), flows);
  fabric.run_until(Time{5ms});
  const auto took = [&fabric](std::uint32_t flow) {
    return *fabric.flow_state(flow).finished - *fabric.flow_state(flow).started;
  };
  // The highest one waits for one frame at most, at the beginning, and the next one for both.
  EXPECT_LT(took(2), fabric.ideal_time(2) + 400ns);
  EXPECT_GT(took(1), fabric.ideal_time(2) + fabric.ideal_time(1) - 10us);
  EXPECT_LT(took(1), fabric.ideal_time(2) + fabric.ideal_time(1) + 10us);
}

TEST(Shares, AClassWithNoneSendsWhatTheOthersLeave) {
  TrafficClasses classes = shares({100});
  classes.selection[1] = TransmissionSelection::ets;
  const Flow whole{.from = 0, .to = 1, .bytes = 3'000'000, .start = 2ms, .priority = 0};
  Fabric fabric = two_hosts(classes, {whole, endless(1)});
  fabric.run_until(Time{1ms});
  EXPECT_NEAR(goodput_until(fabric, Time{2ms})[1], kFull, kFull * 0.01);
  // 3 MB take a millisecond.
  EXPECT_NEAR(goodput_until(fabric, Time{2900us})[1], 0, kFull * 0.01);
  fabric.run_until(Time{4ms});
  EXPECT_NEAR(goodput_until(fabric, Time{5ms})[1], kFull, kFull * 0.01);
}

TEST(Shares, APausedClassStarvesNobody) {
  // Priority 0 is stopped by the switch, since host 2 gets more of it than its link takes; priorities 1 and 2 are not.
  Config config;
  config.hosts.traffic_classes = shares({50, 30, 20});
  config.switches.pfc = Pfc{.priorities = 0x07, .xoff = 100'000};
  const std::vector<Flow> flows{
      {.from = 0, .to = 2, .bytes = kEndless, .priority = 0}, {.from = 1, .to = 2, .bytes = kEndless, .priority = 0},
      {.from = 4, .to = 2, .bytes = kEndless, .priority = 0}, {.from = 5, .to = 2, .bytes = kEndless, .priority = 0},
      {.from = 0, .to = 3, .bytes = kEndless, .priority = 1}, {.from = 0, .to = 3, .bytes = kEndless, .priority = 2}};
  Fabric fabric = make(star(6, {}), config, flows);
  fabric.run_until(Time{1ms});
  const std::vector<double> rates = goodput_until(fabric, Time{11ms});
  EXPECT_NEAR(rates[0], kFull / 4, kFull * 0.02);
  EXPECT_NEAR(rates[4], kFull * 0.75 * 0.6, kFull * 0.02);
  EXPECT_NEAR(rates[5], kFull * 0.75 * 0.4, kFull * 0.02);
}

TEST(Shares, WithoutThemPrioritiesTakeTurns) {
  // The default: eight priorities take turns by packets.
  Fabric fabric = two_hosts({}, {endless(0, 1024), endless(1, 1024), endless(7, 1024)});
  fabric.run_until(Time{1ms});
  for (const double rate : goodput_until(fabric, Time{11ms})) EXPECT_NEAR(rate, kFull / 3, kFull * 0.01);
}

}  // namespace
}  // namespace roce::fabric
