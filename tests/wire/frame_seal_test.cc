// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roce/wire/checksum.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/packet_spec.h"

namespace roce {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::byte> built(const std::string& text) {
  return PacketSpec::from_text(text).value().build().value();
}

Packet parsed(const std::vector<std::byte>& frame) {
  return parse_frame(frame, LinkType::ethernet);
}

/// Inverts a bit of the payload.
void damage(std::vector<std::byte>& frame) {
  frame[parsed(frame).payload_offset()] ^= std::byte{1};
}

constexpr const char* kFrames[]{"eth grh bth", "eth ip udp bth", "eth ipv6 udp bth", "eth vlan ip udp bth",
                                "eth ip udp vxlan eth ip udp bth"};

TEST(FrameSeal, MakesRightWhatWasRight) {
  for (const char* headers : kFrames) {
    std::vector<std::byte> frame =
        built(std::string{"headers: "} + headers + "\nopcode: RC_SEND_ONLY\npayload: 01020304\n");
    const std::vector<std::byte> original = frame;
    const FrameSeal seal{parsed(frame)};
    EXPECT_EQ(seal.icrc_error(), 0U);
    EXPECT_EQ(seal.wrong_checksums(), 0U);
    damage(frame);
    EXPECT_EQ(check_icrc(parsed(frame)).status, IcrcStatus::bad) << headers;
    for (const WrongCheck mode : {WrongCheck::repair, WrongCheck::keep, WrongCheck::leave}) {
      seal.renew(parsed(frame), frame, mode, mode);
      EXPECT_EQ(check_icrc(parsed(frame)).status, IcrcStatus::good) << headers;
    }
    damage(frame);
    seal.renew(parsed(frame), frame, WrongCheck::keep, WrongCheck::keep);
    EXPECT_THAT(frame, ElementsAreArray(original)) << headers;
  }
}

TEST(FrameSeal, WhatWasWrongIsRepairedKeptOrLeft) {
  const std::vector<std::byte> original = built(
      "headers: eth ip udp bth\nopcode: RC_SEND_ONLY\npayload: 01020304\nip.checksum: 0x1234\nicrc: 0x55667788\n");
  const FrameSeal seal{parsed(original)};
  EXPECT_NE(seal.icrc_error(), 0U);
  EXPECT_EQ(seal.wrong_checksums(), 1U);

  std::vector<std::byte> repaired = original;
  damage(repaired);
  seal.renew(parsed(repaired), repaired, WrongCheck::repair, WrongCheck::repair);
  const FrameSeal right{parsed(repaired)};
  EXPECT_EQ(right.icrc_error(), 0U);
  EXPECT_EQ(right.wrong_checksums(), 0U);

  std::vector<std::byte> kept = original;
  damage(kept);
  seal.renew(parsed(kept), kept, WrongCheck::keep, WrongCheck::keep);
  const FrameSeal wrong{parsed(kept)};
  EXPECT_EQ(wrong.icrc_error(), seal.icrc_error());
  EXPECT_NE(parsed(kept).stored_icrc(), parsed(original).stored_icrc());
  EXPECT_EQ(wrong.wrong_checksums(), 1U);

  std::vector<std::byte> left = original;
  damage(left);
  seal.renew(parsed(left), left, WrongCheck::leave, WrongCheck::leave);
  EXPECT_EQ(parsed(left).stored_icrc(), parsed(original).stored_icrc());
  EXPECT_EQ(parsed(left).get<Ipv4>()->checksum, 0x1234);
}

/// Returns a frame with the right checksum of the protocol that IP carries.
std::vector<std::byte> with_upper_checksum(const std::string& text, std::size_t message, std::size_t place) {
  std::vector<std::byte> frame = built(text);
  const NetMeta net = [&] {
    const Packet packet = parsed(frame);
    NetMeta addresses;
    if (const auto ip = packet.get<Ipv4>()) {
      addresses.source = Gid::from_ipv4(ip->source);
      addresses.destination = Gid::from_ipv4(ip->destination);
    } else {
      addresses.source = packet.get<Ipv6>()->source;
      addresses.destination = packet.get<Ipv6>()->destination;
    }
    return addresses;
  }();
  const auto protocol = static_cast<IpProtocol>(frame[message == 34 ? 23 : 20]);
  const std::uint16_t sum = ipv6_upper_checksum(net.source, net.destination, protocol, Bytes{frame}.subspan(message));
  store_big_endian<2>(frame.data() + message + place, sum);
  return frame;
}

TEST(FrameSeal, ChecksumsOverIpFollowTheAddresses) {
  struct Case {
    const char* text;
    std::size_t message;
    std::size_t place;
  };
  for (const Case& c :
       {Case{"headers: eth ip udp bth\nopcode: RC_SEND_ONLY\npayload: 010203\nip.src: 192.0.2.1\n", 34, 6},
        Case{"headers: eth ipv6 udp bth\nopcode: RC_SEND_ONLY\npayload: 010203\n", 54, 6},
        Case{"headers: eth ip\nip.protocol: 6\npayload_length: 27\n", 34, 16},
        Case{"headers: eth ipv6\nipv6.next_header: 58\npayload_length: 27\n", 54, 2}}) {
    std::vector<std::byte> frame = built(c.text);
    store_big_endian<2>(frame.data() + c.message + c.place, 0);
    const PacketSpec spec = PacketSpec::from_packet(parsed(frame));
    std::vector<std::byte> right = with_upper_checksum(spec.to_text(), c.message, c.place);
    const FrameSeal seal{parsed(right)};
    ASSERT_EQ(seal.wrong_checksums(), 0U) << c.text;
    std::vector<std::byte> moved = right;
    // The last byte of the source address.
    moved[c.message == 34 ? 29 : 37] ^= std::byte{0x42};
    ASSERT_NE(FrameSeal{parsed(moved)}.wrong_checksums(), 0U) << c.text;
    seal.renew(parsed(moved), moved, WrongCheck::leave, WrongCheck::leave);
    EXPECT_EQ(FrameSeal{parsed(moved)}.wrong_checksums(), 0U) << c.text;
  }
}

TEST(FrameSeal, NoUdpChecksumStaysNone) {
  std::vector<std::byte> frame = built("headers: eth ip udp bth\nopcode: RC_SEND_ONLY\n");
  const FrameSeal seal{parsed(frame)};
  frame[29] ^= std::byte{1};
  seal.renew(parsed(frame), frame, WrongCheck::repair, WrongCheck::repair);
  EXPECT_EQ(parsed(frame).get<Udp>()->checksum, 0);
}

TEST(FrameSeal, AFrameCheckSequenceFollows) {
  std::vector<std::byte> frame = built("headers: eth ip udp bth\nopcode: RC_SEND_ONLY\npayload: 01020304\n");
  const std::uint32_t fcs = __builtin_bswap32(crc32(0, frame));
  frame.resize(frame.size() + 4);
  store_big_endian<4>(frame.data() + frame.size() - 4, fcs);
  const FrameSeal seal{parsed(frame)};
  damage(frame);
  seal.renew(parsed(frame), frame, WrongCheck::repair, WrongCheck::repair);
  // The residue of a frame with its FCS (IEEE 802.3, 3.2.9).
  EXPECT_EQ(crc32(0, frame), 0x2144DF1CU);
}

TEST(FrameSeal, LeavesWhatWasNotCaptured) {
  std::vector<std::byte> frame = built("headers: eth ip udp bth\nopcode: RC_SEND_ONLY\npayload_length: 64\n");
  const auto length = static_cast<std::uint32_t>(frame.size());
  frame.resize(80);
  const FrameSeal seal{parse_frame(frame, LinkType::ethernet, length)};
  EXPECT_EQ(seal.icrc_error(), std::nullopt);
  frame[29] ^= std::byte{1};
  std::vector<std::byte> expected = frame;
  FieldOf<&Ipv4::checksum>::set(expected.data() + 14, ipv4_checksum(Bytes{expected}.subspan(14, 20)));
  seal.renew(parse_frame(frame, LinkType::ethernet, length), frame, WrongCheck::repair, WrongCheck::repair);
  EXPECT_THAT(frame, ElementsAreArray(expected));
}

}  // namespace
}  // namespace roce
