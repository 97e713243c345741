// SPDX-License-Identifier: BSD-2-Clause
// DCQCN on a star, against the figures of an independent model of it: those of tests/congestion/bottleneck_test.cc.
#include <gmock/gmock.h>

#include "fabric/run.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;
using test::make;

/// The figures of the second half of 100 ms.
struct Figures {
  double utilisation = 0;
  double jain = 0;
  double queue_mean = 0;  ///< bytes, the frame that leaves included
  double marked = 0;      ///< share of packets
  double cnps = 0;        ///< a second and flow
  double alpha = 0;
};

[[nodiscard]] Figures measure(std::uint64_t seed, std::uint32_t senders) {
  Config config{.seed = seed};
  config.hosts.congestion = congestion::DcqcnParameters{};
  config.hosts.timeout = 0;
  config.switches.red = Red{};
  std::vector<Flow> flows;
  for (NodeId sender = 1; sender <= senders; ++sender) flows.push_back({.from = sender, .to = 0, .bytes = kEndless});
  Fabric fabric = make(star(senders + 1, {.rate_bps = 40'000'000'000}), config, flows);
  constexpr PortId to_receiver = 1;
  fabric.run_until(Time{50ms});
  const PortCounters before = fabric.counters(to_receiver);
  const std::uint64_t cnps = fabric.host_counters(0).cnps_sent;
  Figures figures;
  std::vector<double> delivered(senders);
  double total = 0;
  for (std::uint32_t i = 0; i < senders; ++i) delivered[i] = -static_cast<double>(fabric.flow_state(i).delivered);
  constexpr int samples = 1000;
  for (int sample = 1; sample <= samples; ++sample) {
    fabric.run_until(Time{50ms + sample * 50us});
    figures.queue_mean += static_cast<double>(fabric.queue_bytes(to_receiver, 3)) / samples;
    for (std::uint32_t i = 0; i < senders; ++i) figures.alpha += fabric.reading(i)->alpha / (samples * senders);
  }
  double squares = 0;
  for (std::uint32_t i = 0; i < senders; ++i) {
    delivered[i] += static_cast<double>(fabric.flow_state(i).delivered);
    total += delivered[i];
    squares += delivered[i] * delivered[i];
  }
  figures.utilisation = total * 8 / 50e-3 / (40e9 * 1024 / 1106);
  figures.jain = total * total / (senders * squares);
  const PortCounters& after = fabric.counters(to_receiver);
  figures.marked =
      static_cast<double>(after.marked - before.marked) / static_cast<double>(after.frames - before.frames);
  figures.cnps = static_cast<double>(fabric.host_counters(0).cnps_sent - cnps) / 50e-3 / senders;
  return figures;
}

class TwoFlowsOnAStar : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TwoFlowsOnAStar, AreAsInTheModel) {
  const Figures figures = measure(GetParam(), 2);
  EXPECT_GT(figures.utilisation, 0.998 - 0.01);
  EXPECT_GT(figures.jain, 0.993 - 0.02);
  EXPECT_GT(figures.queue_mean, 28.0e3 * 0.75);
  EXPECT_LT(figures.queue_mean, 31.0e3 * 1.25);
  EXPECT_GT(figures.marked, 0.00114 * 0.75);
  EXPECT_LT(figures.marked, 0.00120 * 1.25);
  EXPECT_GT(figures.cnps, 2060 * 0.9);
  EXPECT_LT(figures.cnps, 2180 * 1.1);
  EXPECT_GT(figures.alpha, 0.1096 * 0.9);
  EXPECT_LT(figures.alpha, 0.1139 * 1.1);
}
INSTANTIATE_TEST_SUITE_P(Seeds, TwoFlowsOnAStar, testing::Values(1U, 2U, 3U, 4U, 5U));  // NOLINT(cert-err58-cpp)

TEST(EightFlowsOnAStar, AreAsInTheModel) {
  const Figures figures = measure(1, 8);
  EXPECT_GT(figures.utilisation, 1 - 0.01);
  EXPECT_GT(figures.jain, 0.996 - 0.02);
  EXPECT_GT(figures.queue_mean, 123e3 * 0.75);
  EXPECT_LT(figures.queue_mean, 132e3 * 1.25);
  EXPECT_GT(figures.marked, 0.0077 * 0.75);
  EXPECT_LT(figures.marked, 0.00995 * 1.25);
  EXPECT_GT(figures.cnps, 3078 * 0.9);
  EXPECT_LT(figures.cnps, 3128 * 1.1);
  EXPECT_GT(figures.alpha, 0.1587 * 0.9);
  EXPECT_LT(figures.alpha, 0.1602 * 1.1);
}

}  // namespace
}  // namespace roce::fabric
