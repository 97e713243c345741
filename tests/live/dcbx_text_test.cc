// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/dcbx_text.h"

#include <gmock/gmock.h>

namespace roce::live {
namespace {

using testing::HasSubstr;

[[nodiscard]] port::DcbxConfig parsed(std::string_view text) {
  const Result<port::DcbxConfig> config = parse_dcbx(text);
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(port::DcbxConfig{});
}

TEST(DcbxText, IsReadPartByPart) {
  const port::DcbxConfig config = parsed(
      "willing=pfc,pfc=35,shares=01267:30/3:70/45:strict,recommend,app=udp:4791:3,app=ethertype:0x8915:4,capability=2");
  EXPECT_FALSE(config.ets.willing);
  EXPECT_TRUE(config.pfc.willing);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(config.pfc.enabled(i), i == 3 || i == 5) << i;
  EXPECT_EQ(config.pfc.capability, 2);
  EXPECT_EQ(config.ets.traffic_class(2), 0);
  EXPECT_EQ(config.ets.traffic_class(3), 1);
  EXPECT_EQ(config.ets.traffic_class(5), 2);
  EXPECT_EQ(config.ets.bandwidth(0), 30);
  EXPECT_EQ(config.ets.bandwidth(1), 70);
  EXPECT_EQ(config.ets.tsa(1), DcbxTsa::ets);
  EXPECT_EQ(config.ets.tsa(2), DcbxTsa::strict_priority);
  ASSERT_TRUE(config.recommendation);
  EXPECT_EQ(config.recommendation->bandwidth(1), 70);
  ASSERT_EQ(config.applications.size(), 2U);
  EXPECT_EQ(config.applications[0],
            (DcbxAppEntry{.priority = 3, .selector = DcbxSelector::udp_port, .protocol = 4791}));
  EXPECT_EQ(config.applications[1],
            (DcbxAppEntry{.priority = 4, .selector = DcbxSelector::ether_type, .protocol = 0x8915}));
}

TEST(DcbxText, LetsTheOtherEndDecideUnlessItSaysOtherwise) {
  const port::DcbxConfig config = parsed("pfc=3");
  EXPECT_TRUE(config.ets.willing && config.pfc.willing);
  EXPECT_FALSE(config.recommendation);
  const port::DcbxConfig stubborn = parsed("willing=none");
  EXPECT_FALSE(stubborn.ets.willing || stubborn.pfc.willing);
}

TEST(DcbxText, NamesThePartThatIsWrong) {
  for (const auto& [text, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "expected willing, pfc, shares"},
           {"wiling=both", "found \"wiling=both\""},
           {"willing=yes", "expected willing=ets, pfc, both or none, found \"willing=yes\""},
           {"pfc=8", "digits 0 … 7"},
           {"pfc=33", "digits 0 … 7"},
           {"pfc=", "digits 0 … 7"},
           {"shares=0:60", "shares that add up to 100"},
           {"shares=0:60/0:40", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:101", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:strict/1", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:10/1:10/2:10/3:10/4:10/5:10/6:10/7:10/0:20", "at most 8 classes"},
           {"app=udp:4791", "expected app=KIND:NUMBER:PRIORITY"},
           {"app=sctp:4791:3", "expected app=KIND:NUMBER:PRIORITY"},
           {"app=udp:70000:3", "a number that the kind has"},
           {"app=dscp:64:3", "a number that the kind has"},
           {"app=udp:4791:8", "a priority 0 … 7"},
           {"capability=0", "expected capability=1 … 8"},
           {"recommend=yes", "found \"recommend=yes\""},
           {"pfc=3,", "found \"\""}}) {
    const Result<port::DcbxConfig> config = parse_dcbx(text);
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, HasSubstr(why)) << text;
  }
}

}  // namespace
}  // namespace roce::live
