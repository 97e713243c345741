// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/time_window.h"

#include <gmock/gmock.h>

#include <limits>

namespace roce::analyze {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kStart = 1'795'213'331'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

TimeWindow window(const std::string& from, const std::string& to) {
  const auto made = TimeWindow::make(from, to);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error());
  return made.value_or(TimeWindow{});
}

TEST(TimeWindowTest, EverythingWithoutBounds) {
  EXPECT_TRUE(window("", "").is_everything());
  EXPECT_TRUE(window("", "").contains(std::nullopt, kStart));
  EXPECT_FALSE(window("0", "").is_everything());
  EXPECT_FALSE(window("0", "").contains(std::nullopt, kStart));
}

TEST(TimeWindowTest, RelativeToTheFirstPacket) {
  const TimeWindow part = window("1.5", "2.5");
  EXPECT_FALSE(part.contains(kStart + 1'499'999'999, kStart));
  EXPECT_TRUE(part.contains(kStart + 1'500'000'000, kStart));
  EXPECT_TRUE(part.contains(kStart + 2'500'000'000, kStart));
  EXPECT_FALSE(part.contains(kStart + 2'500'000'001, kStart));
}

TEST(TimeWindowTest, AbsoluteAndMixed) {
  const TimeWindow part = window("2026-11-20T22:22:12Z", "3");
  EXPECT_FALSE(part.contains(kStart, kStart));
  EXPECT_TRUE(part.contains(kStart + kSecond, kStart));
  EXPECT_TRUE(part.contains(kStart + 3 * kSecond, kStart));
  EXPECT_FALSE(part.contains(kStart + 3 * kSecond + 1, kStart));
}

TEST(TimeWindowTest, PiecesThatNeedNotBeRead) {
  const TimeWindow part = window("10", "20");
  EXPECT_TRUE(part.excludes(kStart, kStart + 10 * kSecond - 1, kStart));
  EXPECT_FALSE(part.excludes(kStart, kStart + 10 * kSecond, kStart));
  EXPECT_FALSE(part.excludes(kStart + 20 * kSecond, kStart + 30 * kSecond, kStart));
  EXPECT_TRUE(part.excludes(kStart + 20 * kSecond + 1, kStart + 30 * kSecond, kStart));
  EXPECT_FALSE(window("", "").excludes(kStart, kStart, kStart));
}

TEST(TimeWindowTest, TimesAtTheEndsOfTheRange) {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min() + 1;
  EXPECT_FALSE(window("10", "").contains(last, last));
  EXPECT_TRUE(window("", "10").contains(last, last));
  EXPECT_TRUE(window("-10", "").contains(first, first));
  EXPECT_FALSE(window("", "-10").contains(first, first));
}

TEST(TimeWindowTest, Errors) {
  const auto error = [](const std::string& from, const std::string& to) { return TimeWindow::make(from, to).error(); };
  EXPECT_THAT(error("soon", ""), StartsWith("--from: expected seconds since the first packet"));
  EXPECT_THAT(error("", "1s"), HasSubstr("found '1s'"));
  EXPECT_EQ(error("2", "1"), "--from 2 is later than --to 1: no packet lies between them");
  EXPECT_TRUE(TimeWindow::make("2", "2").has_value());
}

}  // namespace
}  // namespace roce::analyze
