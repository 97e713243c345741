// SPDX-License-Identifier: BSD-2-Clause
// The headers around an IP address: ARP, ICMP, neighbour discovery, IGMP and MLD; frames made by scapy 2.5.
#include <gtest/gtest.h>

#include "control_support.h"
#include "roce/wire/arp.h"
#include "roce/wire/checksum.h"
#include "roce/wire/icmp.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/mld.h"
#include "roce/wire/packet_spec.h"
#include "roce/wire/router_alert.h"

namespace roce {
namespace {

using namespace control_test;

constexpr std::size_t kIpv4Payload = kEthernetSize + 20;
constexpr std::size_t kIpv6Payload = kEthernetSize + 40;

constexpr std::string_view kArpReply =
    "020000000001020000000077080600010800060400020200000000770a09004d0200000000010a090001";
/// An echo request of 15 bytes, so that its checksum ends in half a word.
constexpr std::string_view kEcho =
    "020000000077020000000001080045000023000700003f0167740a0900010a09004d08002bdd12340003736576656e2062";
constexpr std::string_view kEcho6 =
    "02000000007702000000000186dd60000000000f3a40fd090000000000000000000000000001fd0900000000000000000000000000778000"
    "b90712340003736576656e2062";
constexpr std::string_view kAdvertisement =
    "02000000000102000000007786dd6000000000203afffd090000000000000000000000000077fd09000000000000000000000000000188001b"
    "2060000000fd0900000000000000000000000000770201020000000077";
constexpr std::string_view kIgmpReport =
    "01005e000016020000000077080046c0002800000000010239a40a09004de0000016940400002200e8f90000000104000000ef010203";
constexpr std::string_view kMldReport =
    "33330000001602000000007786dd6000000000240001fe80000000000000000000fffe000077ff0200000000000000000000000000163a0005"
    "02000001008f006f650000000104000000ff0e0000000000000000000000000123";

TEST(AddressHeaders, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<Arp>();
  check_header<Icmp>();
  check_header<IcmpEcho>();
  check_header<Icmpv6>();
  check_header<NeighbourSolicitation>();
  check_header<NeighbourAdvertisement>();
  check_header<NdLinkLayer>();
  check_header<Igmp>();
  check_header<IgmpReport>();
  check_header<IgmpRecord>();
  check_header<Mld>();
  check_header<MldReport>();
  check_header<MldRecord>();
  check_header<Ipv4RouterAlert>();
  check_header<Ipv6RouterAlert>();
}

TEST(AddressHeaders, Arp) {
  const auto arp = parse<Arp>(from_frame(kArpReply, kEthernetSize));
  ASSERT_TRUE(arp);
  EXPECT_TRUE(arp->is_ipv4_over_ethernet());
  EXPECT_EQ(arp->operation, ArpOperation::reply);
  EXPECT_EQ(to_string(arp->sender_mac), "02:00:00:00:00:77");
  EXPECT_EQ(to_string(arp->sender_ip), "10.9.0.77");
  EXPECT_EQ(to_string(arp->target_mac), "02:00:00:00:00:01");
  EXPECT_EQ(to_string(arp->target_ip), "10.9.0.1");
  Arp other = *arp;
  other.protocol_size = 16;
  EXPECT_FALSE(other.is_ipv4_over_ethernet());
}

TEST(AddressHeaders, Echo) {
  auto message = from_frame(kEcho, kIpv4Payload);
  EXPECT_EQ(*parse<Icmp>(message), (Icmp{IcmpType::echo_request, 0, 0x2BDD}));
  EXPECT_EQ(*parse<IcmpEcho>(Bytes{message}.subspan(4)), (IcmpEcho{0x1234, 3}));
  EXPECT_EQ(internet_checksum(message), 0);
  FieldOf<&Icmp::checksum>::set(message.data(), 0);
  EXPECT_EQ(internet_checksum(message), 0x2BDD);
  EXPECT_EQ(internet_checksum({}), 0xFFFF);
  EXPECT_EQ(internet_checksum(from_hex("0001f203f4f5f6f7")), 0x220D) << "the example of RFC 1071, 3";
}

TEST(AddressHeaders, ChecksumsOverIpv6CoverItsAddresses) {
  auto message = from_frame(kEcho6, kIpv6Payload);
  const Ipv6 ip = *parse<Ipv6>(from_frame(kEcho6, kEthernetSize));
  EXPECT_EQ(ipv6_upper_checksum(ip.source, ip.destination, IpProtocol::icmpv6, message), 0);
  FieldOf<&Icmpv6::checksum>::set(message.data(), 0);
  EXPECT_EQ(ipv6_upper_checksum(ip.source, ip.destination, IpProtocol::icmpv6, message), 0xB907);
  EXPECT_NE(ipv6_upper_checksum(ip.source, Gid{}, IpProtocol::icmpv6, message), 0xB907);
}

TEST(AddressHeaders, NeighbourAdvertisement) {
  const auto message = from_frame(kAdvertisement, kIpv6Payload);
  EXPECT_EQ(parse<Icmpv6>(message)->type, Icmpv6Type::neighbour_advertisement);
  const auto body = parse<NeighbourAdvertisement>(Bytes{message}.subspan(4));
  EXPECT_FALSE(body->router);
  EXPECT_TRUE(body->solicited);
  EXPECT_TRUE(body->overrides);
  EXPECT_EQ(to_string(body->target), "fd09::77");
  const auto option = parse<NdLinkLayer>(Bytes{message}.subspan(24));
  EXPECT_EQ(option->type, NdOption::target_link_layer);
  EXPECT_EQ(option->length, 1);
  EXPECT_EQ(to_string(option->mac), "02:00:00:00:00:77");
  EXPECT_EQ(to_string(parse<NeighbourSolicitation>(Bytes{message}.subspan(4))->target), "fd09::77");
}

TEST(AddressHeaders, IgmpReport) {
  EXPECT_EQ(to_hex(emitted(Ipv4RouterAlert{})), to_hex(from_frame(kIgmpReport, kIpv4Payload)).substr(0, 8));
  const auto message = from_frame(kIgmpReport, kIpv4Payload + 4);
  EXPECT_EQ(*parse<IgmpReport>(message), (IgmpReport{.checksum = 0xE8F9, .record_count = 1}));
  EXPECT_EQ(*parse<IgmpRecord>(Bytes{message}.subspan(8)),
            (IgmpRecord{.type = GroupRecordType::to_exclude, .group = {{239, 1, 2, 3}}}));
  EXPECT_EQ(parse<Igmp>(from_hex("1164ee9b ef010203"))->max_response, 100);
  EXPECT_EQ(parse<Igmp>(from_hex("1164ee9b ef010203"))->group, (Ipv4Address{{239, 1, 2, 3}}));
}

TEST(AddressHeaders, MldReport) {
  EXPECT_EQ(to_hex(emitted(Ipv6RouterAlert{})), to_hex(from_frame(kMldReport, kIpv6Payload)).substr(0, 16));
  const auto message = from_frame(kMldReport, kIpv6Payload + 8);
  EXPECT_EQ(parse<Icmpv6>(message)->type, Icmpv6Type::listener_report_v2);
  EXPECT_EQ(parse<MldReport>(Bytes{message}.subspan(4))->record_count, 1);
  const auto record = parse<MldRecord>(Bytes{message}.subspan(8));
  EXPECT_EQ(record->type, GroupRecordType::to_exclude);
  EXPECT_EQ(to_string(record->group), "ff0e::123");
  const auto query = parse<Mld>(from_hex("2710 0000 ff0e0000000000000000000000000123"));
  EXPECT_EQ(query->max_response, 10000);
  EXPECT_EQ(to_string(query->group), "ff0e::123");
}

TEST(AddressHeaders, ASpecificationNamesWhatIsBehind) {
  const auto built = [](std::string_view headers) {
    return to_hex(*PacketSpec::from_text("headers: " + std::string{headers} + "\nicrc: none\n")->build());
  };
  EXPECT_EQ(built("eth arp").substr(24), "08060001080006040001" + std::string(40, '0'));
  EXPECT_EQ(built("eth ip icmp icmp_echo").substr(46, 2), "01");
  EXPECT_EQ(built("eth ip igmp").substr(46, 2), "02");
  EXPECT_EQ(built("eth ipv6 ipv6_router_alert icmpv6 mld").substr(40, 2), "00");
  EXPECT_EQ(built("eth ipv6 icmpv6").substr(40, 2), "3a");
}

}  // namespace
}  // namespace roce
