// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/level_curves.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace roce::analyze {
namespace {

TEST(LevelCurve, KeepsExtremesInBoundedMemory) {
  LevelCurve curve;
  constexpr std::int64_t kStep = 50'000;
  for (std::int64_t i = 0; i < 1'000'000; ++i) curve.add(7 + i * kStep, i == 500'000 ? 900 : i == 250'000 ? 1 : 30);
  EXPECT_LE(curve.intervals().size(), LevelCurve::kMost);
  EXPECT_GT(curve.intervals().size(), LevelCurve::kMost / 4);
  EXPECT_EQ(curve.start_ns(), 7);
  const auto width = static_cast<std::int64_t>(curve.width_ns());
  EXPECT_EQ(curve.intervals()[static_cast<std::size_t>(500'000 * kStep / width)].high, 900U);
  EXPECT_EQ(curve.intervals()[static_cast<std::size_t>(250'000 * kStep / width)].low, 1U);
  EXPECT_EQ(std::ranges::count(curve.intervals(), LevelCurve::Interval{30, 30}),
            static_cast<std::ptrdiff_t>(curve.intervals().size()) - 2);
}

TEST(LevelCurve, HoldsAValueUntilTheNext) {
  LevelCurve curve;
  curve.add(0, 4);
  curve.add(100 * 1024, 6);
  EXPECT_EQ(curve.width_ns(), 1024U);
  ASSERT_EQ(curve.intervals().size(), 101U);
  EXPECT_EQ(curve.intervals()[50], (LevelCurve::Interval{4, 4}));
  EXPECT_EQ(curve.intervals()[100], (LevelCurve::Interval{4, 6}));
}

TEST(LevelCurve, TakesTimesAsFarApartAsThereAre) {
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62;
  LevelCurve curve;
  curve.add(-kFarthest, 1);
  curve.add(kFarthest - 1, 2);
  curve.add(5, 3);
  EXPECT_LE(curve.intervals().size(), LevelCurve::kMost);
  EXPECT_EQ(curve.intervals().back(), (LevelCurve::Interval{1, 3}));
}

TEST(UnderWayCurves, HoldToTheEnd) {
  UnderWayCurves curves;
  curves.add({.stream = 1, .direction = 0, .time = Time{Duration{0}}, .psns = 4, .all = 4});
  curves.add({.stream = 1, .direction = 1, .time = Time{Duration{0}}, .psns = 4, .all = 8});
  curves.add({.stream = 1, .direction = 1, .time = Time{Duration{10}}, .psns = 0, .all = 4});
  curves.hold(100 * 1024);
  ASSERT_EQ(curves.curve(1, 0)->intervals().size(), 101U);
  EXPECT_EQ(curves.curve(1, 0)->intervals().back(), (LevelCurve::Interval{4, 4}));
  EXPECT_EQ(curves.curve(1, 1)->intervals().size(), 1U);
}

TEST(UnderWayCurves, GoWithAStreamThatIsAbsorbed) {
  UnderWayCurves curves;
  curves.add({.stream = 3, .direction = 0, .time = Time{Duration{10}}, .psns = 4, .all = 4});
  curves.absorb(3, 1);
  EXPECT_EQ(curves.curve(3, 0), nullptr);
  ASSERT_NE(curves.curve(1, 1), nullptr);
  EXPECT_EQ(curves.curve(1, 1)->intervals().back().high, 4U);
}

TEST(UnderWayCurves, AreBounded) {
  UnderWayCurves curves;
  for (std::uint32_t stream = 0; stream <= UnderWayCurves::kStreams; ++stream) {
    curves.add({.stream = stream, .direction = 0, .time = Time{Duration{10}}, .psns = 4, .all = 4});
  }
  EXPECT_NE(curves.curve(UnderWayCurves::kStreams - 1, 0), nullptr);
  EXPECT_EQ(curves.curve(UnderWayCurves::kStreams, 0), nullptr);
}

}  // namespace
}  // namespace roce::analyze
