// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/address.h"

#include <gtest/gtest.h>

#include <map>

namespace roce::transport {
namespace {

Gid ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return Gid::from_ipv4(Ipv4Address{{a, b, c, d}});
}

Gid gid(std::initializer_list<std::uint8_t> first, std::initializer_list<std::uint8_t> last) {
  Gid result;
  std::copy(first.begin(), first.end(), result.octets.begin());
  std::copy_backward(last.begin(), last.end(), result.octets.end());
  return result;
}

constexpr MacAddress kMac{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};

TEST(LinkLocalGid, IsMadeOfTheMacAddress) {
  EXPECT_EQ(to_string(link_local_gid(kMac)), "fe80::11:22ff:fe33:4455");
  EXPECT_EQ(to_string(link_local_gid(MacAddress{{0x50, 0x6B, 0x4B, 0x01, 0x02, 0x03}})), "fe80::526b:4bff:fe01:203");
}

TEST(LinkLocalGid, GivesTheMacAddressBack) {
  EXPECT_EQ(mac_of_link_local(link_local_gid(kMac)), kMac);
}

TEST(LinkLocalGid, OfAnotherFormHasNoMacAddress) {
  for (const std::size_t octet : {0U, 1U, 2U, 7U, 11U, 12U}) {
    Gid other = link_local_gid(kMac);
    other.octets[octet] ^= 1;
    EXPECT_EQ(mac_of_link_local(other), std::nullopt) << octet;
  }
  EXPECT_EQ(mac_of_link_local(ipv4(192, 0, 2, 1)), std::nullopt);
}

TEST(Multicast, IsToldFromUnicast) {
  EXPECT_TRUE(is_multicast(ipv4(224, 0, 0, 0)));
  EXPECT_TRUE(is_multicast(ipv4(239, 255, 255, 255)));
  EXPECT_FALSE(is_multicast(ipv4(223, 255, 255, 255)));
  EXPECT_FALSE(is_multicast(ipv4(240, 0, 0, 0)));
  EXPECT_TRUE(is_multicast(gid({0xFF, 0x0E}, {1})));
  EXPECT_FALSE(is_multicast(gid({0xFE, 0x80}, {1})));
  EXPECT_FALSE(is_multicast(gid({0x20, 0x01}, {0xE0, 0, 0, 1}))) << "not IPv4-mapped";
}

TEST(Multicast, HasTheEthernetAddressOfItsFamily) {
  EXPECT_EQ(to_string(multicast_mac(ipv4(239, 129, 2, 3))), "01:00:5e:01:02:03");
  EXPECT_EQ(to_string(multicast_mac(ipv4(224, 0, 0, 1))), "01:00:5e:00:00:01");
  EXPECT_EQ(to_string(multicast_mac(gid({0xFF, 0x02}, {0xFF, 0x12, 0x34, 0x56}))), "33:33:ff:12:34:56");
  EXPECT_EQ(to_string(multicast_mac(gid({0xFF, 0x0E}, {0xFF, 0xFF, 239, 129, 2, 3}))), "33:33:ef:81:02:03")
      << "the RoCE v1 form of an IPv4 group";
}

TEST(UdpSourcePort, FoldsTheFlowLabel) {
  EXPECT_EQ(udp_source_port(0x12345), 0xE341);
  EXPECT_EQ(udp_source_port(0xFFFFF), 0xFFC0);
  EXPECT_EQ(udp_source_port(0x04000), 0xC001);
  EXPECT_EQ(udp_source_port(0), 0xC000);
  EXPECT_EQ(udp_source_port(0xFFF0'0000), 0xC000) << "a label has 20 bits";
}

TEST(UdpSourcePort, OfAConnectionIsTheSameAtBothEnds) {
  EXPECT_EQ(flow_label_of(Qpn{0x11}, Qpn{0x12}), 0x00132U);
  EXPECT_EQ(flow_label_of(Qpn{0x12}, Qpn{0x11}), 0x00132U);
  EXPECT_EQ(flow_label_of(Qpn{0x123456}, Qpn{0xABCDEF}), 0xAC3E3U);
  EXPECT_EQ(flow_label_of(Qpn{0xABCDEF}, Qpn{0x123456}), 0xAC3E3U);
  EXPECT_EQ(udp_source_port(flow_label_of(Qpn{0x11}, Qpn{0x12})), 49458);
  EXPECT_EQ(udp_source_port(flow_label_of(Qpn{0x123456}, Qpn{0xABCDEF})), 50120);
}

TEST(UdpSourcePort, WithoutConnectionIsAHashOfTheQpn) {
  EXPECT_EQ(unconnected_source_port(Qpn{17}), 0xDF94);
  EXPECT_EQ(unconnected_source_port(Qpn{1}), 0xD872);
}

TEST(ServiceLevel, FollowsTheTableOfLinux) {
  const std::map<std::uint8_t, std::uint8_t> by_tos{{0x00, 0}, {0x07, 0}, {0x08, 2}, {0x0F, 2}, {0x10, 6},
                                                    {0x17, 6}, {0x18, 4}, {0x1F, 4}, {0xE0, 0}, {106, 2}};
  for (const auto& [tos, level] : by_tos) {
    EXPECT_EQ(service_level_of(SlPolicy::linux_table, tos), level) << int{tos};
  }
}

TEST(ServiceLevel, FollowsTheTopBitsOfMlnx) {
  EXPECT_EQ(service_level_of(SlPolicy::mlnx, 0), 0);
  EXPECT_EQ(service_level_of(SlPolicy::mlnx, 0x1F), 0);
  EXPECT_EQ(service_level_of(SlPolicy::mlnx, 106), 3);
  EXPECT_EQ(service_level_of(SlPolicy::mlnx, 0xFF), 7);
}

TEST(Prefix, ContainsWhatSharesItsBits) {
  const GidPrefix net{ipv4(192, 0, 2, 0), 120};
  EXPECT_TRUE(net.contains(ipv4(192, 0, 2, 255)));
  EXPECT_FALSE(net.contains(ipv4(192, 0, 3, 0)));
  EXPECT_FALSE(net.contains(gid({0xFE, 0x80}, {192, 0, 2, 1})));
}

TEST(Prefix, NeedNotEndAtAnOctet) {
  const GidPrefix net{ipv4(10, 0, 0, 0x60), 96 + 27};
  EXPECT_TRUE(net.contains(ipv4(10, 0, 0, 0x7F)));
  EXPECT_FALSE(net.contains(ipv4(10, 0, 0, 0x80)));
  EXPECT_FALSE(net.contains(ipv4(10, 0, 0, 0x40)));
}

TEST(Prefix, OfNoBitsContainsAllAndOfAllBitsOne) {
  EXPECT_TRUE((GidPrefix{ipv4(1, 2, 3, 4), 0}.contains(gid({0xFF}, {}))));
  EXPECT_TRUE((GidPrefix{ipv4(1, 2, 3, 4), 128}.contains(ipv4(1, 2, 3, 4))));
  EXPECT_FALSE((GidPrefix{ipv4(1, 2, 3, 4), 128}.contains(ipv4(1, 2, 3, 5))));
  EXPECT_FALSE((GidPrefix{ipv4(1, 2, 3, 4), 255}.contains(ipv4(1, 2, 3, 5)))) << "no more than all bits";
}

TEST(TrafficClass, IsTheOneAskedForWithoutAPolicy) {
  EXPECT_EQ(TrafficClassPolicy{}.apply(ipv4(1, 1, 1, 1), ipv4(2, 2, 2, 2), 0x68), 0x68);
}

TEST(TrafficClass, IsThatOfTheFirstRuleThatMatches) {
  const GidPrefix left{ipv4(10, 1, 0, 0), 112};
  const GidPrefix right{ipv4(10, 2, 0, 0), 112};
  const TrafficClassPolicy policy{.rules = {{left, right, 1}, {left, std::nullopt, 2}, {std::nullopt, right, 3}}};
  EXPECT_EQ(policy.apply(ipv4(10, 1, 0, 1), ipv4(10, 2, 0, 1), 9), 1);
  EXPECT_EQ(policy.apply(ipv4(10, 1, 0, 1), ipv4(10, 3, 0, 1), 9), 2);
  EXPECT_EQ(policy.apply(ipv4(10, 3, 0, 1), ipv4(10, 2, 0, 1), 9), 3);
  EXPECT_EQ(policy.apply(ipv4(10, 2, 0, 1), ipv4(10, 1, 0, 1), 9), 9) << "source and destination are not the same";
}

TEST(TrafficClass, GlobalValueWinsOverRules) {
  const TrafficClassPolicy policy{.global = 0x60, .rules = {{std::nullopt, std::nullopt, 1}}};
  EXPECT_EQ(policy.apply(ipv4(10, 1, 0, 1), ipv4(10, 2, 0, 1), 9), 0x60);
}

}  // namespace
}  // namespace roce::transport
