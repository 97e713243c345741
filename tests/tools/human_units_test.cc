// SPDX-License-Identifier: BSD-2-Clause
#include "text/human_units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace roce::text {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(HumanUnitsTest, Durations) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(1), "1 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1.00 us");
  EXPECT_EQ(duration_text(9'994), "9.99 us");
  EXPECT_EQ(duration_text(9'996), "10.0 us");
  EXPECT_EQ(duration_text(12'340), "12.3 us");
  EXPECT_EQ(duration_text(99'949), "99.9 us");
  EXPECT_EQ(duration_text(99'960), "100 us");
  EXPECT_EQ(duration_text(999'499), "999 us");
  EXPECT_EQ(duration_text(999'500), "1.00 ms");
  EXPECT_EQ(duration_text(4'560'000), "4.56 ms");
  EXPECT_EQ(duration_text(59'940'000'000), "59.9 s");
  EXPECT_EQ(duration_text(59'960'000'000), "1.00 min");
  EXPECT_EQ(duration_text(90'000'000'000), "1.50 min");
  EXPECT_EQ(duration_text(3'600'000'000'000), "1.00 h");
  EXPECT_EQ(duration_text(86'400'000'000'000), "1.00 d");
  EXPECT_EQ(duration_text(-1'500'000), "-1.50 ms");
  EXPECT_EQ(duration_text(kMax), "106752 d");
  EXPECT_EQ(duration_text(kMin), "-106752 d");
}

TEST(HumanUnitsTest, Counts) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(9'099), "9,099");
  EXPECT_EQ(count_text(10'000), "10.0 k");
  EXPECT_EQ(count_text(999'499), "999 k");
  EXPECT_EQ(count_text(999'500), "1.00 M");
  EXPECT_EQ(count_text(1'234'567), "1.23 M");
  EXPECT_EQ(count_text(kMost), "18.4 E");
}

TEST(HumanUnitsTest, Bytes) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(1'048'064), "1.00 MiB");  // 1023.5 KiB
  EXPECT_EQ(bytes_text(1'048'063), "1023 KiB");
  EXPECT_EQ(bytes_text(3'650'722'202), "3.40 GiB");
  EXPECT_EQ(bytes_text(kMost), "16.0 EiB");
}

TEST(HumanUnitsTest, Rates) {
  EXPECT_EQ(bit_rate_text(0), "0 bit/s");
  EXPECT_EQ(bit_rate_text(0.004), "<0.01 bit/s");
  EXPECT_EQ(bit_rate_text(0.25), "0.25 bit/s");
  EXPECT_EQ(bit_rate_text(950), "950 bit/s");
  EXPECT_EQ(bit_rate_text(999.7), "1.00 kbit/s");
  EXPECT_EQ(bit_rate_text(12.3e9), "12.3 Gbit/s");
  EXPECT_EQ(bit_rate_text(400e9), "400 Gbit/s");
  EXPECT_EQ(bit_rate_text(-1), "-");
  EXPECT_EQ(bit_rate_text(std::nan("")), "-");
  EXPECT_EQ(bit_rate_text(HUGE_VAL), "-");
  EXPECT_EQ(rate_text(12.34), "12.3 /s");
  EXPECT_EQ(rate_text(7), "7 /s");
  EXPECT_EQ(rate_text(1'200'000), "1.20 M/s");
}

TEST(HumanUnitsTest, PercentagesAreNeverRoundedToNoneOrAll) {
  EXPECT_EQ(percent_text(0, 0), "-");
  EXPECT_EQ(percent_text(0, 5), "0 %");
  EXPECT_EQ(percent_text(5, 5), "100 %");
  EXPECT_EQ(percent_text(1, kMost), "<0.001 %");
  EXPECT_EQ(percent_text(1, 10'000), "0.010 %");
  EXPECT_EQ(percent_text(123, 1000), "12.3 %");
  EXPECT_EQ(percent_text(9'995, 10'000), "99.950 %");
  EXPECT_EQ(percent_text(9'999'999, 10'000'000), ">99.999 %");
  EXPECT_EQ(percent_text(kMost - 1, kMost), ">99.999 %");
}

TEST(HumanUnitsTest, WidthsHold) {
  for (std::uint64_t value = 1; value < kMost / 3; value = value * 3 / 2 + 1) {
    const auto as_double = static_cast<double>(value);
    EXPECT_LE(duration_text(-static_cast<std::int64_t>(value & kMax)).size(), 9U) << value;
    EXPECT_LE(count_text(value).size(), 6U) << value;
    EXPECT_LE(bytes_text(value).size(), 8U) << value;
    EXPECT_LE(bit_rate_text(as_double).size(), 11U) << value;
    EXPECT_LE(bit_rate_text(as_double / 1e6).size(), 11U) << value;
    EXPECT_LE(rate_text(as_double / 1e6).size(), 8U) << value;
    EXPECT_LE(percent_text(value, kMost).size(), 9U) << value;
  }
}

TEST(HumanUnitsTest, ReadsDurations) {
  EXPECT_EQ(parse_duration("0"), 0);
  EXPECT_EQ(parse_duration("10us"), 10'000);
  EXPECT_EQ(parse_duration("10 us"), 10'000);
  EXPECT_EQ(parse_duration("10µs"), 10'000);
  EXPECT_EQ(parse_duration("1.5ms"), 1'500'000);
  EXPECT_EQ(parse_duration("2s"), 2'000'000'000);
  EXPECT_EQ(parse_duration("0.25"), 250'000'000);
  EXPECT_EQ(parse_duration("1.9ns"), 1);
  EXPECT_EQ(parse_duration("0.0000000019"), 1);
  EXPECT_EQ(parse_duration("1.5min"), 90'000'000'000);
  EXPECT_EQ(parse_duration("1h"), 3'600'000'000'000);
  EXPECT_EQ(parse_duration("-3ms"), -3'000'000);
  EXPECT_EQ(parse_duration("9223372036854775807ns"), kMax);
  for (const char* text : {"", "-", "us", "1.", "1.us", ".5", "1e3", "10 furlongs", "10  us", "1 ", "+1", "--1", "0x10",
                           "9223372036854775808ns", "9223372037", "9223372036.9", "107000d", "1s ", "1S"}) {
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
  }
}

TEST(HumanUnitsTest, ReadsBitRates) {
  EXPECT_EQ(parse_bit_rate("100G"), 100'000'000'000U);
  EXPECT_EQ(parse_bit_rate("2.5Gbit"), 2'500'000'000U);
  EXPECT_EQ(parse_bit_rate("400 Gbit/s"), 400'000'000'000U);
  EXPECT_EQ(parse_bit_rate("1M"), 1'000'000U);
  EXPECT_EQ(parse_bit_rate("64k"), 64'000U);
  EXPECT_EQ(parse_bit_rate("1200bit/s"), 1'200U);
  EXPECT_EQ(parse_bit_rate("1.6T"), 1'600'000'000'000U);
  EXPECT_EQ(parse_bit_rate("1000T"), 1'000'000'000'000'000U);
  for (const char* text : {"", "G", "100", "100g", "-1G", "+1G", "1e3G", "0.4bit", "0.0004k", "1001T", "1kpps",
                           "100  G", "100Gbyte", "100G ", "inf G", "nan", "0x10G", "99999999999999999999999G"}) {
    EXPECT_FALSE(parse_bit_rate(text).has_value()) << text;
  }
}

TEST(HumanUnitsTest, ReadsPacketRates) {
  EXPECT_EQ(parse_packet_rate("5000pps"), 5000U);
  EXPECT_EQ(parse_packet_rate("1.5 Mpps"), 1'500'000U);
  for (const char* text : {"", "5000", "pps", "1G", "1kbit", "0pps", "100000Tpps", "1pps "}) {
    EXPECT_FALSE(parse_packet_rate(text).has_value()) << text;
  }
}

TEST(HumanUnitsTest, ReadsWhatItWrites) {
  for (const std::int64_t ns : {0LL, 850LL, 12'300LL, 4'560'000LL, 1'200'000'000LL, 90'000'000'000LL, -1'500'000LL}) {
    EXPECT_EQ(parse_duration(duration_text(ns)), ns);
  }
}

}  // namespace
}  // namespace roce::text
