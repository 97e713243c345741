// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roce/wire/frame_seal.h"
#include "roce/wire/packet_spec.h"

namespace roce {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::byte> built(const std::string& text) {
  return PacketSpec::from_text(text).value().build().value();
}

Packet parsed(const std::vector<std::byte>& frame) {
  return parse_frame(frame, LinkType::ethernet);
}

/// Returns the packet as text, which contains lengths and check values only if they are wrong.
std::string text_of(const std::vector<std::byte>& frame) {
  return PacketSpec::from_packet(parsed(frame)).to_text();
}

void seal(const FrameSeal& before, std::vector<std::byte>& frame) {
  before.renew(parsed(frame), frame, WrongCheck::keep, WrongCheck::keep);
}

constexpr const char* kInner = "opcode: RC_SEND_ONLY\nbth.dest_qp: 0x11\npayload: 010203\n";

TEST(StripTunnels, LeavesTheFrameInside) {
  const std::string inner = std::string{"headers: eth ip udp bth\neth.src: 02:00:00:00:00:07\n"} + kInner;
  for (const char* outer : {"eth ip udp vxlan", "eth vlan ip udp vxlan", "eth ipv6 udp vxlan", "eth ip gre"}) {
    std::vector<std::byte> frame =
        built(std::string{"headers: "} + outer + " eth ip udp bth\neth[1].src: 02:00:00:00:00:07\n" + kInner);
    ASSERT_TRUE(strip_tunnels(parsed(frame), frame)) << outer;
    EXPECT_EQ(text_of(frame), text_of(built(inner))) << outer;
    EXPECT_FALSE(strip_tunnels(parsed(frame), frame)) << outer;
  }
}

TEST(StripTunnels, KeepsTheOuterEthernetHeaderWhereThereIsNoneInside) {
  for (const char* outer : {"eth ip", "eth vlan ip", "eth mpls", "eth ipv6"}) {
    std::vector<std::byte> frame =
        built(std::string{"headers: "} + outer + " ip udp bth\neth.src: 02:00:00:00:00:07\n" + kInner);
    ASSERT_TRUE(parsed(frame).is_roce()) << outer;
    ASSERT_TRUE(strip_tunnels(parsed(frame), frame)) << outer;
    EXPECT_EQ(text_of(frame),
              text_of(built(std::string{"headers: eth ip udp bth\neth.src: 02:00:00:00:00:07\n"} + kInner)))
        << outer;
  }
}

TEST(VlanTags, AreAddedOutsideAndTakenOffTogether) {
  for (const char* headers : {"eth ip udp bth", "eth grh bth", "eth ip udp vxlan eth ip udp bth"}) {
    const std::vector<std::byte> plain = built(std::string{"headers: "} + headers + "\n" + kInner);
    std::vector<std::byte> frame = plain;
    const FrameSeal before{parsed(frame)};
    EXPECT_FALSE(remove_vlan_tags(parsed(frame), frame));
    ASSERT_TRUE(add_vlan_tag(parsed(frame), {.priority = 3, .vlan_id = 7}, frame));
    ASSERT_TRUE(add_vlan_tag(parsed(frame), {.vlan_id = 8}, frame));
    seal(before, frame);
    EXPECT_EQ(check_icrc(parsed(frame)).status, IcrcStatus::good) << headers;
    EXPECT_THAT(text_of(frame), HasSubstr("vlan vlan")) << headers;
    EXPECT_THAT(text_of(frame), HasSubstr("vlan.vid: 8\nvlan[1].pcp: 3\nvlan[1].vid: 7\n")) << headers;
    ASSERT_TRUE(remove_vlan_tags(parsed(frame), frame));
    seal(before, frame);
    EXPECT_THAT(frame, ElementsAreArray(plain)) << headers;
  }
}

TEST(ChangeNetwork, GoesFromEachVersionToEachOtherAndBack) {
  const std::vector<RoceVersion> versions{RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6};
  for (const RoceVersion from : versions) {
    for (const RoceVersion to : versions) {
      PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_write_only, from);
      ASSERT_TRUE(spec.set("payload_length", "5"));
      const std::vector<std::byte> original = spec.build().value();
      std::vector<std::byte> frame = original;
      NetMeta net = parsed(frame).net();
      const NetMeta old = net;
      net.version = to;
      const FrameSeal before{parsed(frame)};
      ASSERT_TRUE(change_network(parsed(frame), net, 0, frame));
      seal(before, frame);
      EXPECT_EQ(parsed(frame).version(), to);
      EXPECT_EQ(parsed(frame).problem(), ParseError{});
      EXPECT_EQ(check_icrc(parsed(frame)).status, IcrcStatus::good);
      PacketSpec expected = PacketSpec::for_opcode(Opcode::rc_write_only, to);
      ASSERT_TRUE(expected.set("payload_length", "5"));
      EXPECT_EQ(parsed(frame).reported_length(), expected.build().value().size());
      ASSERT_TRUE(change_network(parsed(frame), old, 0, frame));
      seal(before, frame);
      EXPECT_THAT(frame, ElementsAreArray(original));
    }
  }
}

TEST(ChangeNetwork, LengthensTheTunnelAroundIt) {
  std::vector<std::byte> frame = built(std::string{"headers: eth ip udp vxlan eth ip udp bth\n"} + kInner);
  NetMeta net = parsed(frame).net();
  net.version = RoceVersion::v1;
  const FrameSeal before{parsed(frame)};
  ASSERT_TRUE(change_network(parsed(frame), net, 0x12345, frame));
  seal(before, frame);
  EXPECT_EQ(flow_label_of(parsed(frame)), 0x12345U);
  // A length that does not fit would be among the values.
  EXPECT_THAT(text_of(frame), ::testing::Not(HasSubstr("length")));
  EXPECT_EQ(check_icrc(parsed(frame)).status, IcrcStatus::good);
}

TEST(ChangeNetwork, RefusesWhatCannotAnnounceIt) {
  std::vector<std::byte> frame = built(std::string{"headers: eth ip ip udp bth\n"} + kInner);
  const std::vector<std::byte> original = frame;
  NetMeta net = parsed(frame).net();
  net.version = RoceVersion::v1;
  EXPECT_FALSE(change_network(parsed(frame), net, 0, frame));
  EXPECT_THAT(frame, ElementsAreArray(original));
}

TEST(ChangeTransport, LengthensAllThatEnclosesIt) {
  for (const char* headers :
       {"eth ip udp bth", "eth vlan ipv6 udp bth", "eth grh bth", "eth ip udp vxlan eth ip udp bth"}) {
    const std::string all = std::string{"headers: "} + headers + "\n";
    std::vector<std::byte> frame = built(all + kInner);
    const std::vector<std::byte> longer =
        built(all + "opcode: RC_WRITE_ONLY\nbth.dest_qp: 0x11\npayload: 0102030405\n");
    const FrameSeal before{parsed(frame)};
    ASSERT_TRUE(change_transport(parsed(frame), Bytes{longer}.subspan(parsed(longer).bth_offset()), frame));
    seal(before, frame);
    EXPECT_THAT(frame, ElementsAreArray(longer)) << headers;
  }
}

TEST(ChangeTransport, LeavesWhatStandsBehindThePacket) {
  const std::string all = std::string{"headers: eth ip udp bth\n"} + kInner;
  std::vector<std::byte> frame = built(all + "trailer: aabb\n");
  const std::vector<std::byte> shorter = built("headers: eth ip udp bth\nopcode: RC_SEND_ONLY\ntrailer: aabb\n");
  const Bytes transport = Bytes{shorter}.subspan(parsed(shorter).bth_offset());
  const FrameSeal before{parsed(frame)};
  ASSERT_TRUE(change_transport(parsed(frame), transport.first(transport.size() - 2), frame));
  seal(before, frame);
  EXPECT_EQ(text_of(frame),
            text_of(built("headers: eth ip udp bth\nopcode: RC_SEND_ONLY\nbth.dest_qp: 0\ntrailer: aabb\n")));
}

}  // namespace
}  // namespace roce
