// SPDX-License-Identifier: BSD-2-Clause
#include "text/sparkline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace roce::text {
namespace {

std::string utf8(const std::vector<double>& values, std::size_t width = 80) {
  return sparkline(values, width, Charset::utf8);
}
std::string ascii(const std::vector<double>& values, std::size_t width = 80) {
  return sparkline(values, width, Charset::ascii);
}

TEST(SparklineTest, LevelsFromZeroToTheLargest) {
  EXPECT_EQ(utf8({0, 1, 2, 3, 4, 5, 6, 7}), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(ascii({0, 1, 2, 3, 4, 5, 6, 7}), "_.:-=+*#");
  EXPECT_EQ(utf8({5, 5}), "██");
  EXPECT_EQ(ascii({1e-9, 1e9}), ".#");
  EXPECT_EQ(ascii({7, 5.9, 1.1}), "#*:");
}

TEST(SparklineTest, NothingIsLowestAndNoDataIsBlank) {
  EXPECT_EQ(ascii({0, 0, 0}), "___");
  EXPECT_EQ(ascii({1, 0, -1, std::nan(""), 1}), "#__ #");
  EXPECT_EQ(ascii({std::nan("")}), " ");
  EXPECT_EQ(ascii({1, HUGE_VAL}), "##");
  EXPECT_EQ(ascii({}), "");
  EXPECT_EQ(ascii({1, 2}, 0), "");
}

TEST(SparklineTest, MeansOfNeighboursWhereThereAreTooMany) {
  EXPECT_EQ(ascii({7, 7, 0, 0, 1, 3}, 3), "#_:");
  EXPECT_EQ(ascii({std::nan(""), 7, std::nan(""), std::nan("")}, 2), "# ");
  const std::vector<double> many(1'000'003, 1.0);
  EXPECT_EQ(ascii(many, 40), std::string(40, '#'));
  EXPECT_EQ(display_width(utf8(many, 40)), 40U);
}

}  // namespace
}  // namespace roce::text
