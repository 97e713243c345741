// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/options.h"

#include <gmock/gmock.h>

namespace roce::gen {
namespace {

using ::testing::HasSubstr;

TEST(PerftestOptions, HaveTheDefaultsOfTheProgram) {
  const auto write_bw = complete({.program = PerftestProgram::write_bw}, 1024);
  ASSERT_TRUE(write_bw);
  EXPECT_EQ(write_bw->size, 65536U);
  EXPECT_EQ(write_bw->iterations, 5000U);
  EXPECT_EQ(write_bw->path_mtu, 1024U);
  EXPECT_EQ(write_bw->tx_depth, 128U);
  const auto read_lat = complete({.program = PerftestProgram::read_lat, .path_mtu = 256}, 4096);
  ASSERT_TRUE(read_lat);
  EXPECT_EQ(read_lat->size, 2U);
  EXPECT_EQ(read_lat->iterations, 1000U);
  EXPECT_EQ(read_lat->path_mtu, 256U);
  EXPECT_EQ(read_lat->tx_depth, 1U);
  EXPECT_EQ(complete({.program = PerftestProgram::atomic_bw}, 1024)->size, 8U);
}

TEST(PerftestOptions, AreRefusedWhereTheProgramHasNone) {
  EXPECT_THAT(complete({.program = PerftestProgram::send_lat, .qps = 2}, 1024).error().message,
              HasSubstr("ib_send_lat has one queue pair"));
  EXPECT_THAT(complete({.program = PerftestProgram::atomic_bw, .size = 16}, 1024).error().message,
              HasSubstr("8 bytes, not 16"));
  EXPECT_THAT(complete({.program = PerftestProgram::read_bw, .compare_swap = true}, 1024).error().message,
              HasSubstr("no atomic operations"));
  EXPECT_THAT(complete({.program = PerftestProgram::send_bw, .path_mtu = 2048}, 1024).error().message,
              HasSubstr("2048 does not fit"));
}

TEST(PerftestOptions, KnowThePrograms) {
  for (const char* name :
       {"send_bw", "send_lat", "write_bw", "write_lat", "read_bw", "read_lat", "atomic_bw", "atomic_lat"}) {
    const auto program = find_perftest(name);
    ASSERT_TRUE(program) << name;
    EXPECT_EQ(to_string(*program), std::string{"ib_"} + name);
    EXPECT_EQ(find_perftest(to_string(*program)), program);
  }
  EXPECT_FALSE(find_perftest(""));
  EXPECT_FALSE(find_perftest("ib_"));
  EXPECT_FALSE(find_perftest("raw_ethernet_bw"));
}

}  // namespace
}  // namespace roce::gen
