// SPDX-License-Identifier: BSD-2-Clause
#include "packet_text/time_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace roce::packet_text {
namespace {

std::string seconds(std::int64_t ns, unsigned digits, std::size_t width = 0) {
  text::TextBuffer out;
  append_seconds(out, ns, digits, width);
  return fmt::to_string(out);
}

std::string utc(std::int64_t ns, unsigned digits) {
  text::TextBuffer out;
  UtcText text;
  text.append(out, ns, digits);
  return fmt::to_string(out);
}

TEST(TimeTextTest, Seconds) {
  EXPECT_EQ(seconds(0, 6), "0.000000");
  EXPECT_EQ(seconds(387'034'000, 6, 12), "    0.387034");
  EXPECT_EQ(seconds(387'034'567, 9), "0.387034567");
  EXPECT_EQ(seconds(-12'000, 6), "-0.000012");
  EXPECT_EQ(seconds(-1'500'000'000, 9), "-1.500000000");
  EXPECT_EQ(seconds(1'795'213'331'479'194'001, 9), "1795213331.479194001");
  EXPECT_EQ(seconds(std::numeric_limits<std::int64_t>::min(), 9), "-9223372036.854775808");
}

TEST(TimeTextTest, Utc) {
  EXPECT_EQ(utc(0, 6), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(utc(-1, 9), "1969-12-31T23:59:59.999999999Z");
  // date -u -d @1795213331
  EXPECT_EQ(utc(1'795'213'331'479'194'001, 9), "2026-11-20T22:22:11.479194001Z");
  UtcText text;
  text::TextBuffer out;
  text.append(out, 999'999'999, 6);
  text.append(out, 1'000'000'000, 6);
  text.append(out, 1'000'001'000, 6);
  EXPECT_EQ(fmt::to_string(out), "1970-01-01T00:00:00.999999Z1970-01-01T00:00:01.000000Z1970-01-01T00:00:01.000001Z");
}

TEST(TimeTextTest, ParsesWhatItPrints) {
  const auto expect = [](std::string_view text, std::int64_t ns, bool relative) {
    const auto bound = parse_time(text);
    ASSERT_TRUE(bound.has_value()) << text;
    EXPECT_EQ(bound->ns, ns) << text;
    EXPECT_EQ(bound->relative, relative) << text;
  };
  expect("0", 0, true);
  expect("12.5", 12'500'000'000, true);
  expect("-0.25", -250'000'000, true);
  expect("0.0000000019", 1, true);
  expect("1795213331.479194001", 1'795'213'331'479'194'001, false);
  expect("2026-11-20T22:22:11.479194001Z", 1'795'213'331'479'194'001, false);
  expect("2026-11-20 22:22:11", 1'795'213'331'000'000'000, false);
  expect("2026-11-20T23:22:11+01:00", 1'795'213'331'000'000'000, false);
  expect("2026-11-20T17:22:11-05:00", 1'795'213'331'000'000'000, false);
}

TEST(TimeTextTest, RefusesTheRest) {
  for (const char* text :
       {"", "soon", "1.", "1.5s", "--1", "2026-11-20", "2026-13-01T00:00:00Z", "2026-11-20T25:00:00Z",
        "2026-11-20T22:22:11+1", "2026-11-20T22:22:11ZZ", "9999-01-01T00:00:00Z", "1e5", "99999999999999999999"}) {
    EXPECT_FALSE(parse_time(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace roce::packet_text
