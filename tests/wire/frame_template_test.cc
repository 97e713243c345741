// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roce/wire/constants.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/packet.h"
#include "support/frame_stack.h"

namespace roce {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

constexpr MacAddress kSource{{0x02, 0, 0, 0, 0xA1, 0xB2}};
constexpr MacAddress kDestination{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}};
constexpr std::byte kUntouched{0xEE};

Gid random_gid(RoceVersion version, std::mt19937& random) {
  Gid gid;
  for (std::uint8_t& octet : gid.octets) octet = static_cast<std::uint8_t>(random());
  return version == RoceVersion::v2_ipv4 ? Gid::from_ipv4(gid.ipv4()) : gid;
}

NetMeta random_net(RoceVersion version, bool tagged, std::mt19937& random) {
  NetMeta net;
  net.version = version;
  net.source = random_gid(version, random);
  net.destination = random_gid(version, random);
  net.traffic_class = static_cast<std::uint8_t>(random());
  net.hop_limit = static_cast<std::uint8_t>(random());
  net.dont_fragment = random() % 2 == 0;
  net.udp_source_port = version == RoceVersion::v1 ? std::uint16_t{0} : static_cast<std::uint16_t>(random());
  if (version == RoceVersion::v2_ipv4 && random() % 2 == 0) net.ip_id = static_cast<std::uint16_t>(random());
  if (tagged) net.vlan_tci = static_cast<std::uint16_t>(random());
  return net;
}

/// Returns the frame, built from its header values one by one.
std::vector<std::byte> built(const NetMeta& net, const Bth& bth, Bytes payload, std::uint16_t ip_id) {
  const auto type = net.version == RoceVersion::v1        ? EtherType::roce_v1
                    : net.version == RoceVersion::v2_ipv4 ? EtherType::ipv4
                                                          : EtherType::ipv6;
  const auto dscp = static_cast<std::uint8_t>(net.traffic_class >> 2);
  const auto ecn = static_cast<std::uint8_t>(net.traffic_class & 3);
  std::vector<std::byte> frame(payload.size() + 128);
  FrameBuilder builder{frame};
  builder.add(Ethernet{kDestination, kSource, net.vlan_tci ? EtherType::vlan : type});
  if (net.vlan_tci) {
    builder.add(VlanTag{.priority = static_cast<std::uint8_t>(*net.vlan_tci / 0x2000),
                        .drop_eligible = (*net.vlan_tci & 0x1000) != 0,
                        .vlan_id = static_cast<std::uint16_t>(*net.vlan_tci % 0x1000),
                        .ether_type = type});
  }
  switch (net.version) {
    case RoceVersion::v1:
      builder.add(Grh{
          .dscp = dscp, .ecn = ecn, .hop_limit = net.hop_limit, .source = net.source, .destination = net.destination});
      break;
    case RoceVersion::v2_ipv4:
      builder.add(Ipv4{.dscp = dscp,
                       .ecn = ecn,
                       .identification = ip_id,
                       .dont_fragment = net.dont_fragment,
                       .ttl = net.hop_limit,
                       .source = net.source.ipv4(),
                       .destination = net.destination.ipv4()});
      break;
    default:
      builder.add(Ipv6{
          .dscp = dscp, .ecn = ecn, .hop_limit = net.hop_limit, .source = net.source, .destination = net.destination});
  }
  if (net.version != RoceVersion::v1) builder.add(Udp{.source_port = net.udp_source_port});
  builder.add(bth).payload(payload);
  frame.resize(builder.finish().value());
  return frame;
}

/// Returns BTH, payload, pad and four bytes for the ICRC.
std::vector<std::byte> transport_of(const Bth& bth, Bytes payload) {
  std::vector<std::byte> bytes = test::written(bth);
  test::append(bytes, payload);
  bytes.resize(bytes.size() + bth.pad_count);
  bytes.resize(bytes.size() + kIcrcSize, kUntouched);
  return bytes;
}

Bth random_bth(std::size_t payload_bytes, std::mt19937& random) {
  auto bth = test::random_header<Bth>(random);
  bth.opcode = Opcode::rc_send_only;
  bth.pad_count = static_cast<std::uint8_t>((0 - payload_bytes) & 3);
  return bth;
}

/// Does what the sender of a frame does, with guard bytes around the frame.
std::vector<std::byte> sent(const FrameTemplate& flow, const Bth& bth, Bytes payload, std::uint16_t ip_id) {
  const std::vector<std::byte> transport = transport_of(bth, payload);
  constexpr std::size_t guard = 64;
  std::vector<std::byte> memory(guard + flow.header_bytes(), kUntouched);
  test::append(memory, transport);
  memory.resize(memory.size() + guard, kUntouched);
  std::byte* frame = memory.data() + guard;
  // The headers come last: they must not reach over the BTH.
  flow.seal(frame + flow.header_bytes(), transport.size(), ip_id);
  EXPECT_TRUE(flow.is_sealed(frame + flow.header_bytes(), transport.size(), ip_id));
  flow.write_headers(frame, transport.size(), ip_id);
  EXPECT_THAT(Bytes(memory).first(guard), Each(kUntouched));
  EXPECT_THAT(Bytes(memory).last(guard), Each(kUntouched));
  return {frame, memory.data() + memory.size() - guard};
}

struct FlowKind {
  RoceVersion version;
  bool tagged;
  std::size_t header_bytes;
};

class FrameTemplateOf : public ::testing::TestWithParam<FlowKind> {
 protected:
  std::mt19937 random_{47};
};

TEST_P(FrameTemplateOf, FrameEqualsTheBuiltOne) {
  for (int i = 0; i < 400; ++i) {
    const NetMeta net = random_net(GetParam().version, GetParam().tagged, random_);
    const auto flow = FrameTemplate::ethernet(net, kSource, kDestination);
    ASSERT_EQ(flow.header_bytes(), GetParam().header_bytes);
    ASSERT_EQ(flow.net(), net);
    const std::vector<std::byte> payload =
        test::random_bytes(i < 40 ? static_cast<std::size_t>(i) : random_() % 4400, random_);
    const Bth bth = random_bth(payload.size(), random_);
    const auto ip_id = static_cast<std::uint16_t>(random_());
    ASSERT_THAT(sent(flow, bth, payload, ip_id), ElementsAreArray(built(net, bth, payload, ip_id)))
        << payload.size() << " bytes, IP ID " << ip_id;
  }
}

TEST_P(FrameTemplateOf, IcrcAndChecksumAreRightForAllLengths) {
  const NetMeta net = random_net(GetParam().version, GetParam().tagged, random_);
  const auto flow = FrameTemplate::ethernet(net, kSource, kDestination);
  const std::vector<std::byte> memory = test::random_bytes(65536, random_);
  // Every byte that a length or an identification can have, in each of its places.
  for (std::size_t size = 16; size <= 65504; size += size < 4400 ? 4 : 252) {
    const auto ip_id = static_cast<std::uint16_t>(size / 4 * 59);
    NetMeta sent_as = net;
    sent_as.ip_id = ip_id;
    ASSERT_EQ(flow.icrc(memory.data(), size, ip_id), compute_icrc(Bytes{memory.data(), size - kIcrcSize}, sent_as))
        << size << " bytes, IP ID " << ip_id;
    if (net.version == RoceVersion::v2_ipv4) {
      std::vector<std::byte> headers(flow.header_bytes());
      flow.write_headers(headers.data(), size, ip_id);
      const std::byte* ip = headers.data() + flow.header_bytes() - kSize<Udp> - kSize<Ipv4>;
      const auto header = read<Ipv4>(ip);
      ASSERT_EQ(header.checksum, ipv4_checksum(Bytes{ip, kSize<Ipv4>}));
      ASSERT_EQ(header.total_length, size + kSize<Ipv4> + kSize<Udp>);
      ASSERT_EQ(header.identification, ip_id);
    }
  }
}

TEST_P(FrameTemplateOf, TransportAloneHasTheIcrcOfTheHiddenHeaders) {
  for (int i = 0; i < 200; ++i) {
    NetMeta net = random_net(GetParam().version, GetParam().tagged, random_);
    const auto flow = FrameTemplate::transport_only(net);
    ASSERT_EQ(flow.header_bytes(), 0U);
    const std::vector<std::byte> payload = test::random_bytes(random_() % 4400, random_);
    const auto ip_id = static_cast<std::uint16_t>(random_());
    const std::vector<std::byte> bytes = sent(flow, random_bth(payload.size(), random_), payload, ip_id);
    // The NetMeta of the receiver has the identification, which the template was not given.
    if (net.version == RoceVersion::v2_ipv4) net.ip_id = ip_id;
    const Packet packet = parse_transport(bytes, net);
    ASSERT_TRUE(packet.has_icrc());
    ASSERT_EQ(packet.stored_icrc(), compute_icrc(Bytes(bytes).first(bytes.size() - kIcrcSize), net));
    ASSERT_EQ(check_icrc(packet).status, IcrcStatus::good);
  }
}

TEST_P(FrameTemplateOf, OnlyTheIcrcOfThisPacketIsSealed) {
  const NetMeta net = random_net(GetParam().version, GetParam().tagged, random_);
  const auto flow = FrameTemplate::ethernet(net, kSource, kDestination);
  const std::vector<std::byte> payload = test::random_bytes(70, random_);
  std::vector<std::byte> bytes = transport_of(random_bth(payload.size(), random_), payload);
  flow.seal(bytes.data(), bytes.size(), 7);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::byte before = bytes[i];
    bytes[i] ^= std::byte{0x10};
    // Byte 4 of the BTH is not covered.
    EXPECT_EQ(flow.is_sealed(bytes.data(), bytes.size(), 7), i == 4) << "byte " << i;
    bytes[i] = before;
  }
  EXPECT_EQ(flow.is_sealed(bytes.data(), bytes.size(), 8), net.version != RoceVersion::v2_ipv4);
  NetMeta other = net;
  other.traffic_class ^= 0xFF;
  other.hop_limit ^= 0xFF;
  EXPECT_TRUE(FrameTemplate::transport_only(other).is_sealed(bytes.data(), bytes.size(), 7));
  other.destination.octets[15] ^= 1;
  EXPECT_FALSE(FrameTemplate::transport_only(other).is_sealed(bytes.data(), bytes.size(), 7));
}

INSTANTIATE_TEST_SUITE_P(Flows, FrameTemplateOf,
                         ::testing::Values(FlowKind{RoceVersion::v1, false, 54}, FlowKind{RoceVersion::v1, true, 58},
                                           FlowKind{RoceVersion::v2_ipv4, false, 42},
                                           FlowKind{RoceVersion::v2_ipv4, true, 46},
                                           FlowKind{RoceVersion::v2_ipv6, false, 62},
                                           FlowKind{RoceVersion::v2_ipv6, true, 66}),
                         [](const auto& flow) {
                           const std::string tag = flow.param.tagged ? "Tagged" : "";
                           switch (flow.param.version) {
                             case RoceVersion::v1:
                               return "GRH" + tag;
                             case RoceVersion::v2_ipv4:
                               return "IPv4" + tag;
                             default:
                               return "IPv6" + tag;
                           }
                         });

TEST(FrameTemplate, SuperFrameIsSealedSegmentBySegment) {
  std::mt19937 random{48};
  const NetMeta net = random_net(RoceVersion::v2_ipv4, false, random);
  const auto flow = FrameTemplate::ethernet(net, kSource, kDestination);
  const std::vector<std::byte> payload = test::random_bytes(256, random);
  std::vector<std::byte> frame(flow.header_bytes());
  constexpr std::uint16_t first_id = 0xFFFF;
  for (std::uint16_t i = 0; i < 3; ++i) {
    std::vector<std::byte> segment = transport_of(random_bth(payload.size(), random), payload);
    flow.seal(segment.data(), segment.size(), static_cast<std::uint16_t>(first_id + i));
    test::append(frame, segment);
  }
  const std::size_t segment_bytes = (frame.size() - flow.header_bytes()) / 3;
  flow.write_headers(frame.data(), 3 * segment_bytes, first_id);
  // Cut as the network card cuts it: each segment behind headers of its own.
  for (std::uint16_t i = 0; i < 3; ++i) {
    const Bytes segment = Bytes(frame).subspan(flow.header_bytes() + i * segment_bytes, segment_bytes);
    const auto bth = read<Bth>(segment.data());
    EXPECT_THAT(built(net, bth, payload, static_cast<std::uint16_t>(first_id + i)), ElementsAreArray([&] {
                  std::vector<std::byte> alone(flow.header_bytes());
                  flow.write_headers(alone.data(), segment_bytes, static_cast<std::uint16_t>(first_id + i));
                  test::append(alone, segment);
                  return alone;
                }()));
  }
  EXPECT_EQ(read<Udp>(frame.data() + flow.header_bytes() - kSize<Udp>).length, 3 * segment_bytes + kSize<Udp>);
}

TEST(FrameTemplate, ChecksumIsRightForAllIdentifications) {
  std::mt19937 random{49};
  const auto flow = FrameTemplate::ethernet(random_net(RoceVersion::v2_ipv4, false, random), kSource, kDestination);
  std::vector<std::byte> headers(flow.header_bytes());
  const std::byte* ip = headers.data() + kSize<Ethernet>;
  for (std::uint32_t ip_id = 0; ip_id <= 0xFFFF; ++ip_id) {
    // With this length some sums carry twice.
    flow.write_headers(headers.data(), 65504, static_cast<std::uint16_t>(ip_id));
    if (read<Ipv4>(ip).checksum != ipv4_checksum(Bytes{ip, kSize<Ipv4>})) FAIL() << "IP ID " << ip_id;
  }
}

TEST(FrameTemplate, TransportAloneWritesNoHeaders) {
  std::byte untouched = kUntouched;
  FrameTemplate::transport_only(NetMeta{}).write_headers(&untouched, 16, 1);
  EXPECT_EQ(untouched, kUntouched);
  EXPECT_EQ(FrameTemplate{}.header_bytes(), 0U);
}

}  // namespace
}  // namespace roce
