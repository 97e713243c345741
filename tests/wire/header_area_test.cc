// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/header_area.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "roce/wire/packet_spec.h"

namespace roce {
namespace {

constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kIpv4Bytes = 20;

using Area = std::array<std::byte, kNetworkHeaderArea>;

std::vector<std::byte> datagram(RoceVersion version) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::ud_send_only, version);
  EXPECT_TRUE(spec.set("payload_length", "7"));
  return spec.build().value();
}

/// Returns what the specification puts in front of the data of the datagram in this frame.
Area expected_of(RoceVersion version, const std::vector<std::byte>& frame) {
  Area area{};
  const std::size_t bytes = version == RoceVersion::v2_ipv4 ? kIpv4Bytes : kNetworkHeaderArea;
  std::copy_n(frame.begin() + kEthernetBytes, bytes, area.end() - static_cast<std::ptrdiff_t>(bytes));
  return area;
}

class HeaderArea : public testing::TestWithParam<RoceVersion> {};

TEST_P(HeaderArea, IsTheNetworkHeaderOfTheFrame) {
  const std::vector<std::byte> frame = datagram(GetParam());
  EXPECT_EQ(network_header_area(parse_frame(frame, LinkType::ethernet)), expected_of(GetParam(), frame));
}

TEST_P(HeaderArea, IsRebuiltForALinkThatHidesTheHeader) {
  const std::vector<std::byte> frame = datagram(GetParam());
  const Packet whole = parse_frame(frame, LinkType::ethernet);
  const Packet hidden = parse_transport(Bytes{frame}.subspan(whole.bth_offset()), whole.net());
  EXPECT_EQ(network_header_area(hidden), expected_of(GetParam(), frame));
}

TEST_P(HeaderArea, NamesSourceAndDestination) {
  const std::vector<std::byte> frame = datagram(GetParam());
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const NetMeta net = packet.net();
  const Area area = network_header_area(packet);
  EXPECT_EQ(addresses_in(area), (NetworkAddresses{net.source, net.destination}));
  EXPECT_EQ(addresses_in(Bytes{area}.first(kNetworkHeaderArea - 1)), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Versions, HeaderArea,
                         testing::Values(RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6));

TEST(HeaderAreaAddresses, AreUnknownIfThereIsNoHeader) {
  EXPECT_EQ(addresses_in(Area{}), std::nullopt);
}

}  // namespace
}  // namespace roce
