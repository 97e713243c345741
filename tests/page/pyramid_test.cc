// SPDX-License-Identifier: BSD-2-Clause
#include "page/pyramid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "support/counted_heap.h"

namespace roce::page {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kFarthest = std::int64_t{1} << 62;

std::uint64_t sum_of(const std::vector<Bucket>& buckets) {
  return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Bucket& bucket) { return sum + bucket.sum; });
}

std::uint64_t highest_of(const std::vector<Bucket>& buckets) {
  std::uint64_t highest = 0;
  for (const Bucket& bucket : buckets) highest = std::max(highest, bucket.high);
  return highest;
}

TEST(Pyramid, KeepsAnEventOfAnHourAtEachLevel) {
  Pyramid pyramid{{Measure::count}};
  pyramid.reach(0);
  pyramid.reach(3600 * kSecond);
  pyramid.add(0, 1800 * kSecond + 7, 1);
  const auto levels = pyramid.levels();
  ASSERT_GT(levels.size(), 2U);
  for (const Pyramid::Level& level : levels) {
    const std::vector<Bucket>& buckets = level.series[0];
    EXPECT_EQ(sum_of(buckets), 1U);
    EXPECT_EQ(buckets[static_cast<std::size_t>((1800 * kSecond + 7) / static_cast<std::int64_t>(level.width_ns))].sum,
              1U);
  }
}

TEST(Pyramid, KeepsTheSlowestAndTheFastestSample) {
  Pyramid pyramid{{Measure::sample}};
  for (std::int64_t i = 0; i < 200'000; ++i) pyramid.add(0, i * 18'000'000, 10'000);
  pyramid.add(0, 1800 * kSecond, 400'000);
  pyramid.add(0, 900 * kSecond, 3);
  for (const Pyramid::Level& level : pyramid.levels()) {
    const std::vector<Bucket>& buckets = level.series[0];
    EXPECT_EQ(highest_of(buckets), 400'000U);
    std::uint64_t least = 1'000'000;
    std::uint64_t count = 0;
    for (const Bucket& bucket : buckets) {
      if (bucket.count != 0) least = std::min(least, bucket.low);
      count += bucket.count;
    }
    EXPECT_EQ(least, 3U);
    EXPECT_EQ(count, 200'002U);
  }
}

TEST(Pyramid, KeepsTheHighestMillisecondOfARate) {
  Pyramid pyramid{{Measure::rate}};
  constexpr auto kWindow = static_cast<std::int64_t>(Pyramid::kWindow);
  // 100 bytes in each window of an hour, and 5000 in one.
  const std::int64_t windows = 3600 * kSecond / kWindow;
  for (std::int64_t i = 0; i < windows; ++i) pyramid.add(0, i * kWindow + 5, i == windows / 3 ? 5000 : 100);
  const auto levels = pyramid.levels();
  EXPECT_GT(levels.front().width_ns, Pyramid::kWindow);
  for (const Pyramid::Level& level : levels) {
    EXPECT_EQ(highest_of(level.series[0]), 5000U);
    EXPECT_EQ(sum_of(level.series[0]), static_cast<std::uint64_t>(windows - 1) * 100 + 5000);
    EXPECT_EQ(level.series[0][level.series[0].size() / 3].low, 100U);
  }
}

TEST(Pyramid, ShowsAStallOfARate) {
  Pyramid pyramid{{Measure::rate}};
  constexpr auto kWindow = static_cast<std::int64_t>(Pyramid::kWindow);
  const std::int64_t windows = 60 * kSecond / kWindow;
  for (std::int64_t i = 0; i < windows; ++i) {
    if (i != windows / 2) pyramid.add(0, i * kWindow, 100);
  }
  for (const Pyramid::Level& level : pyramid.levels()) {
    const std::vector<Bucket>& buckets = level.series[0];
    // The last interval is not full.
    EXPECT_EQ(std::count_if(buckets.begin(), buckets.end() - 1, [](const Bucket& each) { return each.low == 0; }), 1);
  }
}

TEST(Pyramid, SpreadsASpanOverItsTime) {
  for (const std::int64_t length : {std::int64_t{1}, 40 * kSecond}) {
    SCOPED_TRACE(length);
    Pyramid pyramid{{Measure::rate}};
    pyramid.reach(0);
    pyramid.reach(length);
    pyramid.add_span(0, length / 4, length / 4 + 2'500'000);
    EXPECT_EQ(pyramid.total(0), 2'500'000U);
    for (const Pyramid::Level& level : pyramid.levels()) EXPECT_EQ(sum_of(level.series[0]), 2'500'000U);
  }
}

TEST(Pyramid, AShortPauseOfAnHourFillsItsWindow) {
  Pyramid pyramid{{Measure::rate}};
  pyramid.reach(0);
  pyramid.reach(3600 * kSecond);
  pyramid.add_span(0, 1000 * kSecond, 1000 * kSecond + 3 * static_cast<std::int64_t>(Pyramid::kWindow));
  for (const Pyramid::Level& level : pyramid.levels()) EXPECT_EQ(highest_of(level.series[0]), Pyramid::kWindow);
}

TEST(Pyramid, AddsUpSpansThatOverlap) {
  // In short intervals and in long ones, which are made of joined ones.
  for (const std::int64_t length : {std::int64_t{1'000'000}, 3600 * kSecond}) {
    SCOPED_TRACE(length);
    Pyramid pyramid{{Measure::time}};
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < 10; ++i) {
      pyramid.add_span(0, i * (length / 10), length);
      all += static_cast<std::uint64_t>(length - i * (length / 10));
    }
    EXPECT_EQ(pyramid.total(0), all);
    for (const Pyramid::Level& level : pyramid.levels()) {
      const std::vector<Bucket>& buckets = level.series[0];
      EXPECT_EQ(sum_of(buckets), all);
      EXPECT_EQ(buckets[buckets.size() / 20].sum, level.width_ns);
      EXPECT_EQ(buckets[buckets.size() / 4].sum, 3 * level.width_ns);
    }
  }
}

TEST(Pyramid, ALevelHoldsUntilTheNextValue) {
  Pyramid pyramid{{Measure::level}};
  pyramid.reach(0);
  pyramid.add(0, kSecond, 7);
  pyramid.add(0, 1800 * kSecond, 400);
  pyramid.add(0, 1800 * kSecond + 1, 5);
  pyramid.add(0, 3000 * kSecond, 0);
  pyramid.reach(3600 * kSecond);
  EXPECT_EQ(pyramid.total(0), 400U);
  for (const Pyramid::Level& level : pyramid.levels()) {
    const std::vector<Bucket>& buckets = level.series[0];
    const auto at = [&](std::int64_t seconds) {
      return buckets[static_cast<std::size_t>(seconds * kSecond / static_cast<std::int64_t>(level.width_ns))];
    };
    EXPECT_EQ(at(900).low, 7U);
    EXPECT_EQ(at(900).high, 7U);
    EXPECT_EQ(at(1800).high, 400U);
    EXPECT_EQ(at(1800).low, 5U);
    EXPECT_EQ(at(2400).high, 5U);
    EXPECT_EQ(at(3300).high, 0U);
  }
}

TEST(Pyramid, TakesTimesInAnyOrder) {
  std::vector<std::int64_t> times;
  for (std::int64_t i = 0; i < 5000; ++i) times.push_back(i * i * 1000);
  Pyramid forward{{Measure::count}};
  for (const std::int64_t time : times) forward.add(0, time, 1);
  Pyramid backward{{Measure::count}};
  std::reverse(times.begin(), times.end());
  for (const std::int64_t time : times) backward.add(0, time, 1);
  std::shuffle(times.begin(), times.end(), std::mt19937{7});
  Pyramid shuffled{{Measure::count}};
  for (const std::int64_t time : times) shuffled.add(0, time, 1);
  for (Pyramid* each : {&forward, &backward, &shuffled}) {
    EXPECT_LE(each->start_ns(), 0);
    EXPECT_LE(each->size(), Pyramid::kMost);
    EXPECT_EQ(sum_of(each->levels().front().series[0]), 5000U);
  }
}

TEST(Pyramid, TakesTimesAsFarApartAsThereAre) {
  Pyramid pyramid{{Measure::count, Measure::rate, Measure::sample}};
  for (const std::int64_t time : {std::int64_t{0}, kFarthest - 1, -kFarthest, std::int64_t{5}}) {
    for (std::size_t series = 0; series < 3; ++series) pyramid.add(series, time, 2);
  }
  pyramid.add_span(1, -kFarthest, -kFarthest + 3);
  EXPECT_LE(pyramid.size(), Pyramid::kMost);
  const auto levels = pyramid.levels();
  EXPECT_EQ(sum_of(levels.front().series[0]), 8U);
  EXPECT_EQ(sum_of(levels.front().series[1]), 11U);
}

TEST(Pyramid, NeedsNoMoreMemoryForALongCapture) {
  Pyramid pyramid{{Measure::count}};
  for (std::int64_t i = 0; i < 100'000; ++i) pyramid.add(0, i * 1'000'000, 1);
  EXPECT_LE(pyramid.size(), Pyramid::kMost);
  EXPECT_GT(pyramid.size(), Pyramid::kMost / 4);
  const std::uint64_t before = roce::test::heap_allocations();
  for (std::int64_t i = 0; i < 1000; ++i) pyramid.add(0, i * 1'000'000, 1);
  EXPECT_EQ(roce::test::heap_allocations(), before);
}

}  // namespace
}  // namespace roce::page
