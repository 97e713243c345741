// SPDX-License-Identifier: BSD-2-Clause
// The effect of the actions on a packet's bytes. order_test.cc tests their effect on its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"
#include "roce/wire/frame_builder.h"
#include "support/hex.h"
#include "support/vectors.h"

namespace roce::impair {
namespace {

using test::engine_of;
using test::frame_of;
using test::icrc_of;
using test::middle;
using test::pass;
using test::value_in;

constexpr std::array kVersions{RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6};

/// Returns the one frame that a rule makes of a frame.
test::Frame result_of(std::string_view rule, const test::Frame& frame, std::uint64_t seed = 1) {
  Engine engine = engine_of(rule, seed);
  const auto sent = pass(engine, frame);
  EXPECT_EQ(sent.size(), 1U);
  return sent.empty() ? test::Frame{} : sent.front().bytes;
}

std::size_t different_bits(const test::Frame& a, const test::Frame& b) {
  EXPECT_EQ(a.size(), b.size());
  std::size_t bits = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    bits += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(a[i] ^ b[i])));
  }
  return bits;
}

bool has_right_ip_checksum(const test::Frame& frame) {
  return ipv4_checksum(Bytes{frame}.subspan(14, 20)) == FieldOf<&Ipv4::checksum>::get(frame.data() + 14);
}

TEST(ImpairAction, FramesPassUnchanged) {
  const test::Frame frame = middle(1);
  EXPECT_EQ(result_of("drop:op=send", frame), frame);
}

TEST(ImpairAction, DuplicateMakesCopiesThatFollowAtOnce) {
  Engine engine = engine_of("duplicate:copies=2,psn=0");
  const test::Frame frame = middle(1);
  EXPECT_EQ(engine.submit(Direction::b_to_a, frame, test::at(0)), Submitted::taken);
  EXPECT_EQ(engine.submit(Direction::b_to_a, middle(2), test::at(0)), Submitted::taken);
  const auto sent = test::drain(engine);
  EXPECT_THAT(test::numbers(sent), testing::ElementsAre(1, 1, 1, 2));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[i].bytes, frame);
    EXPECT_EQ(sent[i].direction, Direction::b_to_a);
  }
  EXPECT_EQ(engine.stats().duplicates, 2U);
}

TEST(ImpairAction, MarkCeSetsEcnAndLeavesTheIcrcRight) {
  for (const RoceVersion version : kVersions) {
    const std::string ip = version == RoceVersion::v1 ? "grh" : version == RoceVersion::v2_ipv6 ? "ipv6" : "ip";
    const test::Frame before = frame_of(Opcode::rc_send_only, {{ip + ".ecn", "2"}, {ip + ".dscp", "26"}}, version);
    const test::Frame after = result_of("mark_ce", before);
    EXPECT_EQ(value_in(after, ip + ".ecn"), "3") << to_string(version);
    EXPECT_EQ(value_in(after, ip + ".dscp"), "26");
    EXPECT_EQ(icrc_of(after), IcrcStatus::good);
    if (version == RoceVersion::v2_ipv4) {
      EXPECT_TRUE(has_right_ip_checksum(after));
    }
    EXPECT_EQ(result_of("mark_ce", after), after);
  }
}

TEST(ImpairAction, CorruptLeavesAWrongIcrcAndAPacketThatParses) {
  for (const RoceVersion version : kVersions) {
    for (const Opcode opcode : {Opcode::rc_send_only, Opcode::rc_acknowledge, Opcode::rc_write_only, Opcode::cnp}) {
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const test::Frame before = frame_of(opcode, {}, version);
        ASSERT_EQ(icrc_of(before), IcrcStatus::good);
        const test::Frame after = result_of("corrupt", before, seed);
        EXPECT_EQ(different_bits(before, after), 1U);
        EXPECT_EQ(icrc_of(after), IcrcStatus::bad) << to_string(version) << " seed " << seed;
        EXPECT_EQ(test::parsed(after).opcode(), opcode);
        EXPECT_EQ(test::parsed(after).stored_icrc(), test::parsed(before).stored_icrc());
      }
    }
  }
}

TEST(ImpairAction, CorruptReachesEveryByteItMay) {
  const test::Frame before = frame_of(Opcode::rc_send_only, {{"payload", "00112233"}});
  const Packet packet = test::parsed(before);
  std::set<std::size_t> places;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const test::Frame after = result_of("corrupt", before, seed);
    places.insert(static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin()));
  }
  std::set<std::size_t> expected;
  for (std::size_t i = packet.bth_offset() + 2; i < packet.icrc_offset(); ++i) expected.insert(i);
  expected.erase(packet.bth_offset() + 4);
  EXPECT_EQ(places, expected);
}

TEST(ImpairAction, CorruptFlipsAsManyBitsAsAsked) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const test::Frame before = frame_of(Opcode::rc_acknowledge);
    const test::Frame after = result_of("corrupt:bits=64", before, seed);
    EXPECT_EQ(different_bits(before, after), 64U);
    EXPECT_EQ(icrc_of(after), IcrcStatus::bad);
  }
}

TEST(ImpairAction, CorruptFlipsTheBitThatIsNamed) {
  const test::Frame before = middle(1);
  // Bit 95 is the last bit of the BTH, the lowest one of the PSN.
  const test::Frame after = result_of("corrupt:bit=95", before);
  EXPECT_EQ(value_in(after, "bth.psn"), "0");
  EXPECT_EQ(different_bits(before, after), 1U);
  EXPECT_EQ(icrc_of(after), IcrcStatus::bad);
  // 12 bytes of BTH and 16 of payload: the rule does not match a packet without such a bit.
  EXPECT_NE(result_of("corrupt:bit=223", before), before);
  Engine engine = engine_of("corrupt:bit=224");
  EXPECT_EQ(pass(engine, before).front().bytes, before);
  EXPECT_FALSE(engine.poll_log().has_value());
}

TEST(ImpairAction, EditSetsAnyFieldAndRepairsTheIcrc) {
  struct Case {
    Opcode opcode;
    std::string field, value, shown;
  };
  const std::vector<Case> cases{{Opcode::rc_write_middle, "bth.psn", "77", "77"},
                                {Opcode::rc_write_only, "reth.r_key", "0xdeadbeef", "0xdeadbeef"},
                                {Opcode::rc_write_only, "reth.dma_length", "5", "5"},
                                {Opcode::rc_acknowledge, "aeth.syndrome", "0x60", "0x60"},
                                {Opcode::rc_acknowledge, "aeth.syndrome", "NAK remote access error", "0x62"},
                                {Opcode::rc_send_only, "bth.opcode", "RC_SEND_FIRST", "0x00"},
                                {Opcode::ud_send_only, "deth.q_key", "0x80010000", "0x80010000"},
                                {Opcode::rc_send_only, "bth.mig_req", "true", "true"}};
  for (const Case& one : cases) {
    for (const RoceVersion version : kVersions) {
      const test::Frame before = frame_of(one.opcode, {{"bth.psn", "5"}}, version);
      const test::Frame after = result_of("edit:field=" + one.field + ",value=" + one.value, before);
      EXPECT_EQ(value_in(after, one.field), one.shown) << one.field;
      EXPECT_EQ(icrc_of(after), IcrcStatus::good) << one.field << ' ' << to_string(version);
      EXPECT_NE(before, after);
    }
  }
}

TEST(ImpairAction, EditRepairsTheIpv4Checksum) {
  const test::Frame before = middle(1);
  ASSERT_TRUE(has_right_ip_checksum(before));
  const test::Frame after = result_of("edit:field=ip.dst,value=198.51.100.9", before);
  EXPECT_EQ(value_in(after, "ip.dst"), "198.51.100.9");
  EXPECT_TRUE(has_right_ip_checksum(after));
  EXPECT_EQ(icrc_of(after), IcrcStatus::good);
  const test::Frame ttl = result_of("edit:field=ip.ttl,value=3", before);
  EXPECT_TRUE(has_right_ip_checksum(ttl));
  const test::Frame wrong = result_of("edit:field=ip.checksum,value=0x1234", before);
  EXPECT_EQ(value_in(wrong, "ip.checksum"), "0x1234") << "what was asked for stays";
}

/// Returns the ones' complement sum, 0xFFFF for a UDP packet with a right checksum (RFC 768).
std::uint32_t udp_sum(const test::Frame& frame) {
  const Packet packet = test::parsed(frame);
  std::uint32_t sum = 17;
  const auto add = [&](std::size_t from, std::size_t size) {
    for (std::size_t i = from; i < from + size; i += 2) {
      sum += std::to_integer<std::uint32_t>(frame[i]) << 8U;
      if (i + 1 < from + size) sum += std::to_integer<std::uint32_t>(frame[i + 1]);
    }
  };
  const std::size_t udp = packet.find(HeaderId::udp)->offset;
  const std::size_t length = frame.size() - udp;
  const bool is_ipv4 = packet.network_header() == HeaderId::ipv4;
  add(packet.network_offset() + (is_ipv4 ? 12 : 8), is_ipv4 ? 8 : 32);
  add(udp, length);
  sum += static_cast<std::uint32_t>(length);
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16U);
  return sum;
}

TEST(ImpairAction, EditRepairsAUdpChecksumThatWasRight) {
  for (const RoceVersion version : {RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    // The right checksum is derived from the sum of the frame without one.
    test::Frame before = frame_of(Opcode::rc_send_only, {{"payload", "0102030405060708"}}, version);
    const std::size_t udp = test::parsed(before).find(HeaderId::udp)->offset;
    store_big_endian<2>(before.data() + udp + 6, 0xFFFF - udp_sum(before));
    ASSERT_EQ(udp_sum(before), 0xFFFFU);
    ASSERT_EQ(icrc_of(before), IcrcStatus::good);
    const test::Frame after = result_of("edit:field=bth.psn,value=12345", before);
    EXPECT_EQ(udp_sum(after), 0xFFFFU) << to_string(version);
    EXPECT_EQ(icrc_of(after), IcrcStatus::good);
    store_big_endian<2>(before.data() + udp + 6, 0x0101);
    EXPECT_EQ(value_in(result_of("edit:field=bth.psn,value=12345", before), "udp.checksum"), "0x0101");
  }
}

TEST(ImpairAction, EditLeavesAnIcrcWrongThatWasWrong) {
  test::Frame before = middle(1);
  before.back() ^= std::byte{1};
  const test::Frame after = result_of("edit:field=bth.psn,value=9", before);
  EXPECT_EQ(icrc_of(after), IcrcStatus::bad);
  EXPECT_EQ(test::parsed(after).stored_icrc(), test::parsed(before).stored_icrc());
}

TEST(ImpairAction, EditPassesOverPacketsWithoutTheHeader) {
  Engine engine = engine_of("edit:field=aeth.syndrome,value=0x60,count=1");
  EXPECT_EQ(pass(engine, middle(1)).front().bytes, middle(1));
  const auto sent = pass(engine, frame_of(Opcode::rc_acknowledge));
  EXPECT_EQ(value_in(sent.front().bytes, "aeth.syndrome"), "0x60") << "the packet before must not use up the count";
}

TEST(ImpairAction, EditOfOtherFrames) {
  const test::Frame before(60, std::byte{7});
  const test::Frame after = result_of("edit:any_frame=true,field=eth.src,value=02:00:00:00:00:09", before);
  EXPECT_EQ(value_in(after, "eth.src"), "02:00:00:00:00:09");
  EXPECT_EQ(
      different_bits(test::Frame(before.begin() + 12, before.end()), test::Frame(after.begin() + 12, after.end())), 0U);
}

TEST(ImpairAction, EditOfHardwareCapturesKeepsTheirIcrcRight) {
  for (const roce::test::Vector& vector : {roce::test::kC1, roce::test::kC2, roce::test::kC3}) {
    const test::Frame before = roce::test::from_hex(vector.hex);
    const test::Frame after = result_of("edit:field=bth.dest_qp,value=0xabcdef", before);
    EXPECT_EQ(value_in(after, "bth.dest_qp"), "0xabcdef") << vector.name;
    EXPECT_EQ(icrc_of(after), IcrcStatus::good) << vector.name;
  }
}

}  // namespace
}  // namespace roce::impair
