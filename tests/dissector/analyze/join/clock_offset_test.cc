// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/clock_offset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace roce::analyze::test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 1'795'213'331 * kSecond;

/// Two points with a clock each, and traffic between two hosts past both: leg 0 goes forth, leg 1 back.
struct Link {
  std::int64_t offset_ns = 0;  ///< offset of B's clock at the start
  double drift = 0;
  std::int64_t forth_ns = 5000;  ///< smallest delay from A to B
  std::int64_t back_ns = 5000;   ///< smallest delay from B to A; negative: leg 1 too passes A before B
  std::int64_t queue_ns = 20'000;
  std::int64_t seconds = 20;
  int packets = 2000;
  bool only_forth = false;

  [[nodiscard]] std::vector<DelaySample> samples() const {
    std::mt19937_64 random{7};
    std::exponential_distribution<double> queue{1.0 / static_cast<double>(queue_ns)};
    std::vector<DelaySample> all;
    for (int i = 0; i < packets; ++i) {
      const auto leg = static_cast<std::uint32_t>(only_forth ? 0 : i % 2);
      const std::int64_t at_a = kStart + seconds * kSecond / packets * i;
      const std::int64_t wait = std::llround(queue(random));
      const std::int64_t moved = leg == 0 ? forth_ns + wait : back_ns < 0 ? wait - back_ns : -(back_ns + wait);
      const std::int64_t drifted = std::llround(drift * static_cast<double>(at_a + moved - kStart));
      all.push_back({at_a, offset_ns + drifted + moved, leg});
    }
    return all;
  }
};

ClockModel compare(const Link& link, std::optional<std::int64_t> given = std::nullopt) {
  std::vector<LegEvidence> evidence(2);
  evidence[0].reverse = 1;
  evidence[1].reverse = 0;
  if (link.only_forth) evidence = {LegEvidence{}};
  return compare_clocks(link.samples(), evidence, given);
}

TEST(ClockOffsetTest, OffsetIsWithinItsUncertaintyHoweverUnlikeTheWaysAre) {
  for (const std::int64_t offset : {std::int64_t{0}, std::int64_t{-40'000}, 3600 * kSecond}) {
    for (const std::int64_t back : {1000, 5000, 90'000}) {
      SCOPED_TRACE(std::to_string(offset) + " " + std::to_string(back));
      Link link;
      link.offset_ns = offset;
      link.back_ns = back;
      const ClockModel clock = compare(link);
      ASSERT_TRUE(clock.offset_ns.has_value());
      EXPECT_EQ(clock.legs[0].order, PointOrder::a_first);
      EXPECT_EQ(clock.legs[1].order, PointOrder::b_first);
      EXPECT_LE(std::abs(*clock.offset_ns - offset), clock.uncertainty_ns);
      // The fastest of 1000 packets waits no more than a few hundred nanoseconds.
      EXPECT_NEAR(static_cast<double>(clock.uncertainty_ns), static_cast<double>(link.forth_ns + back) / 2, 300);
      EXPECT_FALSE(clock.drift.has_value());
      EXPECT_FALSE(clock.is_contradictory);
    }
  }
}

TEST(ClockOffsetTest, SwappedPointsSwapTheOrder) {
  std::vector<DelaySample> samples = Link{}.samples();
  for (DelaySample& sample : samples) sample.difference_ns = -sample.difference_ns;
  std::vector<LegEvidence> evidence(2);
  evidence[0].reverse = 1;
  evidence[1].reverse = 0;
  const ClockModel clock = compare_clocks(samples, evidence, std::nullopt);
  EXPECT_EQ(clock.legs[0].order, PointOrder::b_first);
  EXPECT_EQ(clock.legs[1].order, PointOrder::a_first);
}

TEST(ClockOffsetTest, DriftIsFoundAndTakenOut) {
  for (const double ppm : {-100.0, -3.0, 3.0, 40.0}) {
    SCOPED_TRACE(ppm);
    Link link;
    link.offset_ns = 7'000'000;
    link.drift = ppm * 1e-6;
    const ClockModel clock = compare(link);
    ASSERT_TRUE(clock.drift.has_value());
    // 1 us in 20 s.
    EXPECT_NEAR(*clock.drift * 1e6, ppm, 0.05);
    ASSERT_TRUE(clock.offset_ns.has_value());
    EXPECT_LE(std::abs(*clock.offset_ns - link.offset_ns), clock.uncertainty_ns);
    for (const DelaySample& sample : link.samples()) {
      ASSERT_GE(clock.delay(sample).value(), 0);
      ASSERT_LT(clock.delay(sample).value(), 500'000);
    }
  }
}

TEST(ClockOffsetTest, NoDriftIsClaimedOfAShortCaptureOrOfNoise) {
  Link link;
  link.drift = 30e-6;
  link.seconds = 1;
  link.packets = 100;
  EXPECT_FALSE(compare(link).drift.has_value()) << "less than a second between the first and the last";
  link = {};
  link.queue_ns = 300'000;
  EXPECT_FALSE(compare(link).drift.has_value());
}

TEST(ClockOffsetTest, OneOrderTellsNoOffset) {
  Link link;
  link.offset_ns = 123'456'789;
  link.only_forth = true;
  const ClockModel clock = compare(link);
  EXPECT_FALSE(clock.offset_ns.has_value());
  EXPECT_EQ(clock.legs[0].order, PointOrder::a_first);
  EXPECT_EQ(clock.legs[0].basis, OrderBasis::scatter);
  std::int64_t smallest = kSecond;
  for (const DelaySample& sample : link.samples()) smallest = std::min(smallest, clock.delay(sample).value());
  EXPECT_EQ(smallest, 0);
}

TEST(ClockOffsetTest, BothDirectionsMayPassThePointsInTheSameOrder) {
  Link link;
  link.back_ns = -8000;
  link.offset_ns = -5'000'000;
  const ClockModel clock = compare(link);
  EXPECT_EQ(clock.legs[0].order, PointOrder::a_first);
  EXPECT_EQ(clock.legs[1].order, PointOrder::a_first);
  EXPECT_FALSE(clock.offset_ns.has_value()) << "no packet went from B to A";
  // A direction that always takes longer looks like a round trip between the points; the scatter shows that it is not.
  link.back_ns = -500'000;
  EXPECT_FALSE(compare(link).offset_ns.has_value());
}

TEST(ClockOffsetTest, AGivenOffsetIsTakenAsItIs) {
  Link link;
  link.offset_ns = 40'000;
  const ClockModel clock = compare(link, 40'000);
  EXPECT_TRUE(clock.is_given);
  EXPECT_EQ(clock.offset_ns, 40'000);
  EXPECT_EQ(clock.legs[1].order, PointOrder::b_first);
  link.only_forth = true;
  link.queue_ns = 1;
  const ClockModel alone = compare(link, 40'000);
  EXPECT_EQ(alone.legs[0].basis, OrderBasis::given);
  EXPECT_NEAR(static_cast<double>(alone.delay(link.samples().front()).value()), 5000, 20);
}

TEST(ClockOffsetTest, WithoutScatterOnlyOtherEvidenceTellsTheOrder) {
  const std::vector<DelaySample> samples(3, {kStart, 1000, 0});
  std::vector<LegEvidence> evidence(1);
  EXPECT_EQ(compare_clocks(samples, evidence, std::nullopt).legs[0].order, PointOrder::unknown);
  EXPECT_FALSE(compare_clocks(samples, evidence, std::nullopt).delay(samples[0]).has_value());
  evidence[0].only_b = 2;
  const ClockModel by_losses = compare_clocks(samples, evidence, std::nullopt);
  EXPECT_EQ(by_losses.legs[0].order, PointOrder::b_first);
  EXPECT_EQ(by_losses.legs[0].basis, OrderBasis::losses);
  evidence[0].only_a = 1;
  EXPECT_EQ(compare_clocks(samples, evidence, std::nullopt).legs[0].order, PointOrder::unknown);
  evidence[0].changed_behind_a = 1;
  EXPECT_EQ(compare_clocks(samples, evidence, std::nullopt).legs[0].basis, OrderBasis::changes);
}

TEST(ClockOffsetTest, CopiesThatOnlyOnePointHasTellTheOrderUnlessLossesContradict) {
  const std::vector<DelaySample> samples(3, {kStart, 1000, 0});
  std::vector<LegEvidence> evidence(1);
  const auto order = [&] { return compare_clocks(samples, evidence, std::nullopt).legs[0]; };
  evidence[0].copies_a = 1;
  EXPECT_EQ(order().order, PointOrder::b_first);
  EXPECT_EQ(order().basis, OrderBasis::copies);
  evidence[0].only_b = 1;
  EXPECT_EQ(order().order, PointOrder::b_first);
  EXPECT_EQ(order().basis, OrderBasis::losses);
  evidence[0].only_b = 0;
  evidence[0].only_a = 1;
  EXPECT_EQ(order().order, PointOrder::unknown);
  evidence[0].only_a = 0;
  evidence[0].copies_b = 1;
  EXPECT_EQ(order().order, PointOrder::unknown);
  EXPECT_EQ(order().basis, OrderBasis::none);
}

}  // namespace
}  // namespace roce::analyze::test
