// SPDX-License-Identifier: BSD-2-Clause
#include "link/timestamp_scale.h"

#include <gtest/gtest.h>

#include <limits>

namespace roce::link::detail {
namespace {

constexpr std::int64_t kSeconds = 1'700'000'000;
constexpr std::uint8_t kBinary = 0x80;

TEST(TimestampScale, DecimalResolutionsGiveNanoseconds) {
  const auto units = static_cast<std::uint64_t>(kSeconds);
  EXPECT_EQ(TimestampScale(0).to_ns(units), kSeconds * 1'000'000'000);
  EXPECT_EQ(TimestampScale(3).to_ns(units * 1000 + 123), kSeconds * 1'000'000'000 + 123'000'000);
  EXPECT_EQ(TimestampScale(6).to_ns(units * 1'000'000 + 123'456), kSeconds * 1'000'000'000 + 123'456'000);
  EXPECT_EQ(TimestampScale(9).to_ns(units * 1'000'000'000 + 123'456'789), kSeconds * 1'000'000'000 + 123'456'789);
}

TEST(TimestampScale, FinerThanNanosecondsIsRoundedDown) {
  EXPECT_EQ(TimestampScale(10).to_ns(10'000'000'019), 1'000'000'001);
  EXPECT_EQ(TimestampScale(12).to_ns(1'000'000'001'999), 1'000'000'001);
  EXPECT_EQ(TimestampScale(28).to_ns(10'000'000'000'000'000'000U), 1);
  EXPECT_EQ(TimestampScale(29).to_ns(~std::uint64_t{0}), 0);
  EXPECT_EQ(TimestampScale(127).to_ns(~std::uint64_t{0}), 0);
}

TEST(TimestampScale, BinaryResolutions) {
  EXPECT_EQ(TimestampScale(kBinary | 0).to_ns(3), 3'000'000'000);
  EXPECT_EQ(TimestampScale(kBinary | 1).to_ns(3), 1'500'000'000);
  EXPECT_EQ(TimestampScale(kBinary | 10).to_ns(1024 + 256), 1'250'000'000);
  EXPECT_EQ(TimestampScale(kBinary | 32).to_ns(std::uint64_t{kSeconds} << 32 | 0x80000000U),
            kSeconds * 1'000'000'000 + 500'000'000);
  EXPECT_EQ(TimestampScale(kBinary | 63).to_ns(std::uint64_t{1} << 63), 1'000'000'000);
  EXPECT_EQ(TimestampScale(kBinary | 127).to_ns(~std::uint64_t{0}), 0);
}

TEST(TimestampScale, OffsetIsAddedInSeconds) {
  EXPECT_EQ(TimestampScale(6, kSeconds).to_ns(5), kSeconds * 1'000'000'000 + 5'000);
  EXPECT_EQ(TimestampScale(9, -10).to_ns(1), -9'999'999'999);
}

TEST(TimestampScale, OutOfRangeSaturatesSoThatDifferencesDoNot) {
  constexpr std::int64_t farthest = (std::int64_t{1} << 62) - 1;
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  constexpr auto kSmallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(TimestampScale(0).to_ns(~std::uint64_t{0}), farthest);
  EXPECT_EQ(TimestampScale(9).to_ns(~std::uint64_t{0}), farthest);
  EXPECT_EQ(TimestampScale(6, kLargest).to_ns(~std::uint64_t{0}), farthest);
  EXPECT_EQ(TimestampScale(6, kSmallest).to_ns(0), -farthest);
  EXPECT_EQ(TimestampScale(9).to_ns(farthest), farthest);
}

}  // namespace
}  // namespace roce::link::detail
