// SPDX-License-Identifier: BSD-2-Clause
// Frames of every legal combination of headers, put together by hand, parse into the headers that they were made of.
#include <gtest/gtest.h>

#include "opcode_rows.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/visit.h"
#include "support/frame_stack.h"
#include "support/hex.h"

namespace roce {
namespace {

using test::Carrier;
using test::FrameStack;
using test::Outer;

/// Returns a transport packet of this opcode with random fields; `payload_size` with up to 3 bytes of pad behind it.
FrameStack make_transport(std::uint8_t opcode, std::span<const HeaderId> headers, std::size_t payload_size,
                          std::mt19937& random) {
  FrameStack stack{random};
  auto bth = test::random_header<Bth>(random);
  bth.opcode = static_cast<Opcode>(opcode);
  // A packet to QP1 would be a management datagram.
  if (bth.dest_qp == Qpn{1}) bth.dest_qp = Qpn{2};
  stack.put(bth);
  for (const HeaderId id : headers) stack.put(id, test::random_bytes(header_info(id).size, random));
  return stack.payload(test::random_bytes(payload_size, random), bth.pad_count);
}

void expect_parsed(FrameStack& stack, const Carrier& carrier, LinkType link_type, std::size_t payload_size,
                   std::size_t trailer) {
  // On the heap and of exactly this size, so that a sanitizer notices any access beyond it.
  const std::vector<std::byte> frame(stack.bytes());
  const Packet packet = parse_frame(frame, link_type);
  ASSERT_EQ(packet.problem().reason, ParseReason::none) << to_string(packet.problem());
  ASSERT_EQ(packet.kind(), PacketKind::roce);
  ASSERT_EQ(packet.version(), carrier.version);
  const LayerList list = packet.layers();
  ASSERT_EQ(std::vector<Layer>(list.begin(), list.end()), stack.layers());
  ASSERT_EQ(packet.bth_offset(), stack.bth_offset());
  ASSERT_EQ(packet.network_offset(), stack.network_offset());
  ASSERT_EQ(packet.payload().size(), payload_size);
  ASSERT_EQ(packet.payload_length(), payload_size);
  ASSERT_EQ(packet.pad().size(), packet.bth().pad_count);
  ASSERT_EQ(packet.trailer().size(), trailer);
  ASSERT_EQ(packet.reported_length(), frame.size());
  ASSERT_EQ(packet.icrc_offset(), frame.size() - trailer - 4);
  ASSERT_EQ(check_icrc(packet).status, IcrcStatus::good);
  std::size_t visited = 0;
  visit_headers(packet, [&](const HeaderInfo& info, Bytes bytes, std::size_t offset) {
    const Layer& layer = list[visited++];
    EXPECT_EQ(info.id, layer.id);
    EXPECT_EQ(offset, layer.offset);
    EXPECT_EQ(bytes.data(), frame.data() + offset);
    EXPECT_EQ(bytes.size(), layer.size);
    EXPECT_TRUE(info.size == 0 || info.size == bytes.size()) << info.name;
  });
  ASSERT_EQ(visited, list.size());
}

class RoundTrip : public testing::TestWithParam<Outer> {};

TEST_P(RoundTrip, OfEveryOpcodeInEveryCarrier) {
  std::mt19937 random(50);
  for (const Carrier& carrier : test::kCarriers) {
    if (GetParam().ip_only && carrier.version == RoceVersion::v1) continue;
    for (const test::OpcodeRow& row : test::kOpcodeRows) {
      SCOPED_TRACE(std::string{carrier.name} + ' ' + std::string{row.name});
      const std::size_t payload_size = random() % 3 == 0 ? 0 : random() % 300;
      FrameStack stack = make_transport(row.code, row.headers, payload_size, random);
      carrier.wrap(stack);
      stack.seal(carrier.network);
      GetParam().wrap(stack, carrier.ether_type);
      const std::size_t trailer = random() % 2 == 0 ? 0 : random() % 20;
      stack.trailer(trailer);
      ASSERT_NO_FATAL_FAILURE(expect_parsed(stack, carrier, GetParam().link_type, payload_size, trailer));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip, testing::ValuesIn(test::kOuters),
                         [](const auto& outer) { return std::string{outer.param.name}; });

TEST(RoundTripOf, UndefinedOpcodesIsOpaque) {
  std::mt19937 random(51);
  for (unsigned code = 0; code < 256; ++code) {
    if (opcode_info(static_cast<Opcode>(code)).defined()) continue;
    for (const Carrier& carrier : test::kCarriers) {
      FrameStack stack = make_transport(static_cast<std::uint8_t>(code), {}, 37, random);
      carrier.wrap(stack);
      stack.seal(carrier.network).ethernet(carrier.ether_type);
      ASSERT_NO_FATAL_FAILURE(expect_parsed(stack, carrier, LinkType::ethernet, 37, 0)) << code;
    }
  }
}

TEST(RoundTripOf, TransportAlone) {
  std::mt19937 random(52);
  for (const test::OpcodeRow& row : test::kOpcodeRows) {
    FrameStack stack = make_transport(row.code, row.headers, random() % 100, random);
    const std::vector<std::byte> bytes(stack.bytes());
    NetMeta net;
    net.version = RoceVersion::v2_ipv6;
    net.hop_limit = 7;
    net.vlan_tci = 5;
    const Packet packet = parse_transport(bytes, net);
    EXPECT_EQ(packet.problem().reason, ParseReason::none) << to_string(packet.problem());
    const LayerList list = packet.layers();
    EXPECT_EQ(std::vector<Layer>(list.begin(), list.end()), stack.layers()) << row.name;
    EXPECT_EQ(packet.bth_offset(), 0U);
    EXPECT_EQ(packet.network_header(), HeaderId::none);
    EXPECT_EQ(packet.net(), net);
    EXPECT_EQ(packet.icrc_offset(), bytes.size() - 4);
  }
}

TEST(RoundTripOf, ValuesOfEachTransportHeader) {
  std::mt19937 random(53);
  for (int round = 0; round < 50; ++round) {
    const auto bth = [&] {
      auto header = test::random_header<Bth>(random);
      header.opcode = Opcode::rd_compare_swap;
      header.pad_count = 0;
      return header;
    }();
    const auto rdeth = test::random_header<Rdeth>(random);
    const auto deth = test::random_header<Deth>(random);
    const auto atomic = test::random_header<AtomicEth>(random);
    FrameStack stack{random};
    stack.put(bth).put(rdeth).put(deth).put(atomic).payload({}).udp().ipv6().ethernet(EtherType::ipv6);
    const std::vector<std::byte> frame(stack.bytes());
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    EXPECT_EQ(packet.bth(), bth);
    EXPECT_EQ(packet.get<Bth>(), bth);
    EXPECT_EQ(packet.get<Rdeth>(), rdeth);
    EXPECT_EQ(packet.get<Deth>(), deth);
    EXPECT_EQ(packet.get<AtomicEth>(), atomic);
    EXPECT_EQ(packet.get<Reth>(), std::nullopt);
    EXPECT_EQ(packet.get<Aeth>(), std::nullopt);
    EXPECT_EQ(packet.get<Ipv4>(), std::nullopt);
    EXPECT_TRUE(packet.get<Ipv6>().has_value());
    EXPECT_TRUE(packet.get<Ethernet>().has_value());
  }
}

}  // namespace
}  // namespace roce
