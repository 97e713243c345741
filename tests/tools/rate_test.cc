// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/rate.h"

#include <gtest/gtest.h>

namespace roce::runtime {
namespace {

TEST(Rate, CountsBitsOrPackets) {
  EXPECT_EQ(*parse_rate("2.5Gbit"), (Rate{.bps = 2'500'000'000}));
  EXPECT_EQ(*parse_rate("800Mbit"), (Rate{.bps = 800'000'000}));
  EXPECT_EQ(*parse_rate("100G"), (Rate{.bps = 100'000'000'000}));
  EXPECT_EQ(*parse_rate("100kpps"), (Rate{.pps = 100'000}));
  EXPECT_EQ(*parse_rate("1pps"), (Rate{.pps = 1}));
  for (const char* wrong : {"", "5", "Gbit", "-1Gbit", "0pps", "100k ", "nanpps", "infGbit", "0x10Gbit", " 1Gbit",
                            "1  Gbit", "+1Gbit", "1e3pps", "5kpp", "pps"}) {
    EXPECT_FALSE(parse_rate(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace roce::runtime
