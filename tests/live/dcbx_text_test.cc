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
           {"shares=0:60", "shares=0:60: expected shares that add up to 100, found 60"},
           {"shares=0:60/0:40", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:101", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:strict/1", "expected shares=PRIORITIES:SHARE/…"},
           {"shares=0:10/1:10/2:10/3:10/4:10/5:10/6:10/7:10/0:20", "at most 8 classes"},
           {"app=udp:4791", "expected app=KIND:NUMBER:PRIORITY"},
           {"app=sctp:4791:3", "expected app=KIND:NUMBER:PRIORITY"},
           {"app=udp:70000:3", "a NUMBER of 1 to 65535 for udp"},
           {"app=tcp:0:3", "a NUMBER of 1 to 65535 for tcp"},
           {"app=ethertype:1500:3", "a NUMBER of 1536 to 65535 for ethertype"},
           {"app=dscp:64:3", "a NUMBER of 0 to 63 for dscp"},
           {"app=udp:4791:8", "a PRIORITY of 0 to 7"},
           {"app=udp:4791:3,app=udp:4791:4", "not there twice"},
           {"pfc=3,pfc=4", "expected pfc once, found \"pfc=4\""},
           {"willing=both,willing=none", "expected willing once"},
           {"pfc=345,capability=2", "pfc names 3 priorities, and capability allows 2"},
           {"recommend", "recommend needs shares"},
           {"capability=0", "expected capability=1 … 8"},
           {"recommend=yes", "found \"recommend=yes\""},
           {"pfc=3,", "found \"\""}}) {
    const Result<port::DcbxConfig> config = parse_dcbx(text);
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().message, HasSubstr(why)) << text;
  }
}

TEST(DcbxText, DescribesWhatHoldsInOneLine) {
  port::DcbxConfig config = parsed("willing=both,pfc=345,shares=01267:30/3:70/45:strict");
  port::DcbxPeer end{config, MacAddress{{2, 0, 0, 0, 0, 1}}, "eth0"};
  EXPECT_EQ(describe_dcbx(end),
            "DCBX, alone: lossless priorities 3-5 (own); shares 30 % for 0-2,6,7, 70 % for 3, strict for 4,5 (own)");
  port::DcbxConfig other = parsed("willing=none,app=udp:4791:3,app=dscp:26:3,app=ethertype:0x8915:4");
  for (std::uint16_t i = 0; i < 10; ++i) {
    other.applications.push_back({.priority = 1, .selector = DcbxSelector::tcp_port, .protocol = i});
  }
  port::DcbxPeer peer{other, MacAddress{{2, 0, 0, 0, 0, 2}}, "eth1"};
  ASSERT_TRUE(peer.update(Time{}));
  EXPECT_TRUE(end.receive(peer.frame(), Time{}));
  const std::string text = describe_dcbx(end);
  EXPECT_THAT(text, HasSubstr("DCBX, with the other end: no lossless priorities (the other end's); shares"));
  EXPECT_THAT(text,
              HasSubstr("; the other end announces UDP port 4791 priority 3, DSCP 26 priority 3, EtherType 0x8915 "
                        "priority 4, TCP port 0 priority 1"));
  EXPECT_THAT(text, HasSubstr(", and 5 more"));
}

}  // namespace
}  // namespace roce::live
