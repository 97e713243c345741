// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace roce::runtime {
namespace {

TEST(Latency, PercentilesAreThoseOfTheSortedValuesToOnePartIn64) {
  std::mt19937_64 random{7};
  std::vector<std::int64_t> values;
  LatencyHistogram histogram;
  for (int i = 0; i < 20000; ++i) {
    // From a nanosecond to a minute, all magnitudes equally likely.
    const auto value = static_cast<std::int64_t>(std::exp(std::uniform_real_distribution{0.0, 24.8}(random)));
    values.push_back(value);
    histogram.add(Duration{value});
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.min().count(), values.front());
  EXPECT_EQ(histogram.max().count(), values.back());
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(std::ceil(share * 20000)) - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile(share).count()), exact, exact / 64 + 1) << share;
  }
  std::uint64_t sum = 0;
  Duration end{0};
  for (const LatencyHistogram::Bucket& bucket : histogram.by_powers_of_two()) {
    sum += bucket.count;
    if (end != Duration{0}) {
      EXPECT_EQ(bucket.from, end);
    }
    end = bucket.to;
  }
  EXPECT_EQ(sum, values.size());
}

TEST(Latency, IsZeroWithoutAnything) {
  EXPECT_EQ(LatencyHistogram{}.percentile(0.5), Duration{0});
}

}  // namespace
}  // namespace roce::runtime
