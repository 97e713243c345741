// SPDX-License-Identifier: BSD-2-Clause
// The results of parsing frames that are cut, wrong, or something else.
#include <gtest/gtest.h>

#include <algorithm>

#include "roce/wire/icrc.h"
#include "roce/wire/visit.h"
#include "support/both_paths.h"
#include "support/frame_stack.h"
#include "support/hex.h"
#include "support/packet_equality.h"
#include "support/vectors.h"

namespace roce {
namespace {

using test::FrameStack;
using test::from_hex;

std::vector<Layer> layers_of(const Packet& packet) {
  const LayerList list = packet.layers();
  return {list.begin(), list.end()};
}

std::string names_of(const Packet& packet) {
  std::string names;
  for (const Layer& layer : packet.layers()) {
    names += (names.empty() ? "" : " ") + std::string{header_info(layer.id).name};
  }
  return names;
}

/// Returns the first bytes, on the heap and of exactly this size, so that a sanitizer notices any access beyond it.
std::vector<std::byte> first(const std::vector<std::byte>& frame, std::size_t size) {
  return {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Returns the ends of the bytes that are needed to recognise each layer: the CMA header lies inside the
/// message in front of it, which is recognised as a whole.
std::vector<std::size_t> ends_of(const std::vector<Layer>& layers) {
  std::vector<std::size_t> ends;
  for (const Layer& layer : layers) {
    ends.push_back(layer.id == HeaderId::cma ? ends.back() : std::size_t{layer.offset} + layer.size);
  }
  return ends;
}

struct Sample {
  std::string name;
  LinkType link_type;
  std::vector<std::byte> bytes;
};

/// Returns the vectors, and one frame of each way of being carried.
std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const test::Vector& vector : test::kVectors) {
    all.push_back({std::string{vector.name}, LinkType::ethernet, from_hex(vector.hex)});
  }
  std::mt19937 random(60);
  for (const test::Carrier& carrier : test::kCarriers) {
    for (const test::Outer& outer : test::kOuters) {
      if (outer.ip_only && carrier.version == RoceVersion::v1) continue;
      FrameStack stack{random};
      Bth bth;
      bth.opcode = Opcode::xrc_write_only_imm;
      bth.pad_count = 2;
      stack.put(bth)
          .put(test::random_header<XrcEth>(random))
          .put(test::random_header<Reth>(random))
          .put(test::random_header<ImmDt>(random))
          .payload(test::random_bytes(30, random), 2);
      carrier.wrap(stack);
      stack.seal(carrier.network);
      outer.wrap(stack, carrier.ether_type);
      all.push_back({std::string{carrier.name} + "In" + std::string{outer.name}, outer.link_type, stack.bytes()});
    }
  }
  return all;
}

void check_cut_captures(const Sample& sample) {
  const auto& frame = sample.bytes;
  const Packet whole = parse_frame(frame, sample.link_type);
  ASSERT_EQ(check_icrc(whole).status, IcrcStatus::good);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    SCOPED_TRACE(size);
    const auto captured = first(frame, size);
    const Packet packet = parse_frame(captured, sample.link_type, static_cast<std::uint32_t>(frame.size()));
    ASSERT_EQ(packet.problem().reason, ParseReason::cut_short) << to_string(packet.problem());
    ASSERT_EQ(packet.reported_length(), frame.size());
    const IcrcVerdict verdict = check_icrc(packet);
    ASSERT_EQ(verdict.status, IcrcStatus::not_checked);
    ASSERT_FALSE(packet.has_icrc());
    ASSERT_EQ(packet.is_roce(), size >= whole.bth_offset() + kSize<Bth>);
    if (packet.is_roce()) {
      ASSERT_EQ(verdict.reason, IcrcUnchecked::cut_short);
      ASSERT_EQ(packet.bth(), whole.bth());
    }
    auto expected = layers_of(whole);
    const auto ends = ends_of(expected);
    expected.resize(static_cast<std::size_t>(std::ranges::upper_bound(ends, size) - ends.begin()));
    ASSERT_EQ(layers_of(packet), expected);
    if (size >= whole.payload_offset()) {
      ASSERT_EQ(packet.payload_length(), whole.payload_length());
      ASSERT_EQ(packet.payload().size(), std::min<std::size_t>(size - whole.payload_offset(), whole.payload_length()));
    }
    ASSERT_FALSE(test::describe(packet).empty());
  }
}

void check_cut_packets(const Sample& sample) {
  const auto& frame = sample.bytes;
  const Packet whole = parse_frame(frame, sample.link_type);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    SCOPED_TRACE(size);
    const auto shorter = first(frame, size);
    const Packet packet = parse_frame(shorter, sample.link_type);
    ASSERT_TRUE(packet.problem().reason == ParseReason::truncated || packet.problem().reason == ParseReason::bad_length)
        << to_string(packet.problem());
    ASSERT_EQ(check_icrc(packet).status, IcrcStatus::not_checked);
    ASSERT_EQ(packet.is_roce(), size >= whole.bth_offset() + kSize<Bth>);
    if (packet.is_roce()) {
      ASSERT_EQ(check_icrc(packet).reason, IcrcUnchecked::malformed);
    }
    // A management datagram ends before the pad and the ICRC, so it may not be found; everything else has to be.
    const auto all = layers_of(whole);
    const auto found = layers_of(packet);
    ASSERT_LE(found.size(), all.size());
    ASSERT_TRUE(std::equal(found.begin(), found.end(), all.begin()));
    const auto ends = ends_of(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool in_payload = all[i].offset >= whole.payload_offset();
      ASSERT_EQ(i < found.size(), ends[i] + (in_payload ? 4 : 0) <= size) << header_info(all[i].id).name;
    }
    ASSERT_FALSE(test::describe(packet).empty());
  }
}

void check_cut_transports(const Sample& sample) {
  const auto& frame = sample.bytes;
  const Packet whole = parse_frame(frame, sample.link_type);
  const NetMeta net = whole.net();
  const std::vector<std::byte> transport(frame.begin() + whole.bth_offset(), frame.end());
  for (std::size_t size = 0; size < transport.size(); ++size) {
    SCOPED_TRACE(size);
    const auto captured = first(transport, size);
    const Packet cut = parse_transport(captured, net, static_cast<std::uint32_t>(transport.size()));
    ASSERT_EQ(cut.problem().reason, ParseReason::cut_short);
    ASSERT_EQ(check_icrc(cut).status, IcrcStatus::not_checked);
    const Packet shorter = parse_transport(captured, net);
    const std::size_t least = whole.payload_offset() - whole.bth_offset() + 4 + whole.pad().size();
    // Nothing from the BTH on tells the length of a packet, so a shorter one is one with another ICRC.
    ASSERT_EQ(shorter.problem().reason, size < least ? ParseReason::truncated : ParseReason::none);
    ASSERT_NE(check_icrc(shorter).status, IcrcStatus::good);
  }
}

void for_each_sample(void (*check)(const Sample&)) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    ASSERT_NO_FATAL_FAILURE(check(sample));
  }
}

TEST(Truncation, ByTheCaptureIsNeverHeldAgainstThePacket) {
  for_each_sample(check_cut_captures);
}

TEST(Truncation, OfThePacketItselfIsAProblem) {
  for_each_sample(check_cut_packets);
}

TEST(Truncation, OfATransportPacketToo) {
  for_each_sample(check_cut_transports);
}

TEST(ParseError, SaysWhereAndWhatIsMissing) {
  std::mt19937 random(61);
  FrameStack stack{random};
  Bth bth;
  bth.opcode = Opcode::rc_write_only;
  stack.put(bth).put(HeaderId::payload, test::random_bytes(9, random)).udp().ipv4().ethernet(EtherType::ipv4);
  const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
  EXPECT_EQ(to_string(packet.problem()), "truncated RETH at byte 54: need 16, have 9");
  EXPECT_EQ(packet.problem(), (ParseError{ParseReason::truncated, HeaderId::reth, 54, 16, 9}));
  EXPECT_EQ(names_of(packet), "eth ip udp bth");
  EXPECT_EQ(packet.get<Reth>(), std::nullopt);
  EXPECT_EQ(packet.find(HeaderId::reth), std::nullopt);

  const auto t3 = from_hex(test::kT3.hex);
  EXPECT_EQ(to_string(parse_frame(first(t3, 80), LinkType::ethernet, 98).problem()),
            "cut short by the capture RETH at byte 74: need 16, have 6");
  EXPECT_EQ(to_string(parse_frame(first(t3, 92), LinkType::ethernet, 98).problem()),
            "cut short by the capture payload at byte 90: need 8, have 2");
  EXPECT_EQ(to_string(parse_frame(first(t3, 90), LinkType::ethernet).problem()),
            "bad length of IPv6 at byte 14: says 84, there are 76");
  EXPECT_EQ(to_string(parse_frame({}, LinkType::ethernet).problem()), "truncated Ethernet at byte 0: need 14, have 0");
}

/// Returns the frame of a vector with these bytes at an offset.
std::vector<std::byte> patched(const test::Vector& vector, std::size_t offset, std::string_view hex) {
  auto frame = from_hex(vector.hex);
  const auto bytes = from_hex(hex);
  std::ranges::copy(bytes, frame.begin() + static_cast<std::ptrdiff_t>(offset));
  return frame;
}

std::string problem_of(const std::vector<std::byte>& frame) {
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_NE(check_icrc(packet).status, IcrcStatus::good);
  return to_string(packet.problem());
}

TEST(Lengths, ThatContradictAreReported) {
  EXPECT_EQ(problem_of(patched(test::kT1, 16, "0035")), "bad length of IPv4 at byte 14: says 53, there are 52");
  EXPECT_EQ(problem_of(patched(test::kT1, 16, "0013")), "bad length of IPv4 at byte 14: says 20, there are 19");
  EXPECT_EQ(problem_of(patched(test::kT1, 14, "44")), "bad length of IPv4 at byte 14: says 20, there are 16");
  EXPECT_EQ(problem_of(patched(test::kT1, 14, "55")), "bad version of IPv4 at byte 14: expected 4, found 5");
  EXPECT_EQ(problem_of(patched(test::kT1, 38, "0021")), "bad length of UDP at byte 34: says 33, there are 32");
  EXPECT_EQ(problem_of(patched(test::kT1, 38, "0007")), "bad length of UDP at byte 34: says 8, there are 7");
  EXPECT_EQ(problem_of(patched(test::kT1, 38, "0010")), "truncated BTH at byte 42: need 12, have 8");
  EXPECT_EQ(problem_of(patched(test::kT9, 43, "30")), "truncated ICRC at byte 54: need 7, have 4");
  EXPECT_EQ(problem_of(patched(test::kT3, 14, "70")), "bad version of IPv6 at byte 14: expected 6, found 7");
  EXPECT_EQ(problem_of(patched(test::kT5, 14, "40")), "bad version of GRH at byte 14: expected 6, found 4");
  EXPECT_EQ(problem_of(patched(test::kT5, 18, "0019")), "bad length of GRH at byte 14: says 65, there are 64");
  EXPECT_EQ(problem_of(patched(test::kT5, 20, "11")), "not RoCE: GRH at byte 14");

  // A UDP length below what IP carries ends the packet earlier, and what remains is a trailer.
  const auto shorter = patched(test::kT1, 38, "001c");
  const Packet packet = parse_frame(shorter, LinkType::ethernet);
  EXPECT_EQ(packet.problem().reason, ParseReason::none);
  EXPECT_EQ(packet.icrc_offset(), 58U);
  EXPECT_EQ(packet.trailer().size(), 4U);
}

TEST(Lengths, OfZeroStandForTheRestOfTheFrame) {
  const auto whole = from_hex(test::kT1.hex);
  for (const auto& [offset, hex] : {std::pair{std::size_t{16}, "0000"}, std::pair{std::size_t{38}, "0000"}}) {
    const auto frame = patched(test::kT1, offset, hex);
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    EXPECT_EQ(packet.problem().reason, ParseReason::none) << to_string(packet.problem());
    EXPECT_EQ(packet.icrc_offset(), whole.size() - 4);
  }
  const auto ipv6 = patched(test::kT3, 18, "0000");
  EXPECT_EQ(parse_frame(ipv6, LinkType::ethernet).icrc_offset(), ipv6.size() - 4);
}

TEST(Trailer, IsLeftOut) {
  auto frame = from_hex(test::kT9.hex);
  frame.resize(60);
  const auto fcs = from_hex("01020304");
  test::append(frame, fcs);
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
  EXPECT_EQ(test::to_hex(packet.trailer()), "000001020304");
  // A capture that lost only the trailer lost nothing of the packet.
  const auto captured = first(frame, 58);
  const Packet cut = parse_frame(captured, LinkType::ethernet, 64);
  EXPECT_EQ(cut.problem().reason, ParseReason::none);
  EXPECT_EQ(check_icrc(cut).status, IcrcStatus::good);
}

TEST(Fragments, AreNotChecked) {
  const auto first_one = patched(test::kT1, 20, "2000");
  const Packet begun = parse_frame(first_one, LinkType::ethernet);
  EXPECT_EQ(begun.problem().reason, ParseReason::fragment);
  EXPECT_TRUE(begun.is_roce());
  EXPECT_EQ(begun.opcode(), Opcode::rc_send_only);
  EXPECT_EQ(check_icrc(begun).reason, IcrcUnchecked::fragmented);
  EXPECT_EQ(to_string(begun.problem()), "IP fragment: IPv4 at byte 14, data offset 0: defragment the capture first");

  const auto later_one = patched(test::kT1, 20, "0003");
  const Packet later = parse_frame(later_one, LinkType::ethernet);
  EXPECT_EQ(to_string(later.problem()), "IP fragment: IPv4 at byte 14, data offset 24: defragment the capture first");
  EXPECT_FALSE(later.is_roce());
  EXPECT_EQ(names_of(later), "eth ip");
  EXPECT_EQ(check_icrc(later).status, IcrcStatus::not_checked);

  for (const unsigned offset_and_flags : {0x0001U, 0x0008U, 0xFFF9U}) {
    std::mt19937 random(62);
    FrameStack stack{random};
    Bth bth;
    bth.opcode = Opcode::rc_send_only;
    stack.put(bth).payload(test::random_bytes(8, random)).udp();
    std::vector<std::byte> fragment(8);
    fragment[0] = static_cast<std::byte>(IpProtocol::udp);
    store_big_endian<2>(fragment.data() + 2, offset_and_flags);
    stack.wrap(HeaderId::ipv6_extension, fragment).ipv6(IpProtocol::fragment).ethernet(EtherType::ipv6);
    const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
    EXPECT_EQ(packet.problem().reason, ParseReason::fragment) << offset_and_flags;
    EXPECT_EQ(packet.problem().available, offset_and_flags & 0xFFF8);
    EXPECT_EQ(packet.is_roce(), (offset_and_flags & 0xFFF8) == 0);
    EXPECT_EQ(check_icrc(packet).status, IcrcStatus::not_checked);
  }
}

TEST(Layers, MoreThanAPacketHoldsAreAProblem) {
  for (const std::size_t tags : {std::size_t{20}, Packet::kMaxLayers - 1, Packet::kMaxLayers, std::size_t{200}}) {
    std::mt19937 random(63);
    FrameStack stack{random};
    EtherType type = EtherType::lldp;
    for (std::size_t i = 0; i < tags; ++i) type = test::wrap_vlan(stack, type);
    stack.ethernet(type);
    const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
    if (tags < Packet::kMaxLayers) {
      EXPECT_EQ(packet.kind(), PacketKind::lldp);
      EXPECT_EQ(packet.layers().size(), tags + 1);
    } else {
      EXPECT_EQ(to_string(packet.problem()), "too many headers at VLAN tag at byte 138: at most 32 are followed");
      EXPECT_EQ(packet.layers().size(), Packet::kMaxLayers);
    }
  }
}

TEST(NotRoce, IsSaidToBe) {
  const auto expect_other = [](const std::vector<std::byte>& frame, std::string_view layers, std::string_view problem) {
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    EXPECT_EQ(packet.kind(), PacketKind::other);
    EXPECT_EQ(packet.version(), RoceVersion::none);
    EXPECT_EQ(names_of(packet), layers);
    EXPECT_EQ(to_string(packet.problem()), problem);
    EXPECT_EQ(check_icrc(packet).reason, IcrcUnchecked::not_roce);
  };
  expect_other(patched(test::kT1, 12, "0806"), "eth", "not RoCE from byte 14");
  expect_other(patched(test::kT1, 23, "06"), "eth ip", "not RoCE from byte 34");
  expect_other(patched(test::kT1, 36, "12b6"), "eth ip udp", "not RoCE from byte 42");
  expect_other(patched(test::kT3, 20, "3a"), "eth ipv6", "not RoCE from byte 54");

  // RoCE v2 is recognised by the destination port; other protocols may use it as source port.
  const auto source = patched(test::kT1, 34, "12b70035");
  expect_other(source, "eth ip udp", "not RoCE from byte 42");

  const auto frame = from_hex(test::kT1.hex);
  const Packet unknown_link = parse_frame(frame, static_cast<LinkType>(147));
  EXPECT_EQ(to_string(unknown_link.problem()), "not RoCE from byte 0");
  EXPECT_TRUE(unknown_link.layers().empty());
}

TEST(LinkControl, PfcAndPause) {
  const auto pfc = from_hex(
      "0180c2000001020000000001880801010018000000000000ffff00000000000000000000"
      "000000000000000000000000000000000000000000000000");
  const Packet packet = parse_frame(pfc, LinkType::ethernet);
  EXPECT_EQ(packet.kind(), PacketKind::pfc);
  EXPECT_EQ(packet.problem().reason, ParseReason::none);
  EXPECT_EQ(names_of(packet), "eth mac_control pfc");
  EXPECT_TRUE(packet.get<Pfc>()->enabled(3) && packet.get<Pfc>()->enabled(4));
  EXPECT_EQ(packet.get<Pfc>()->timer(3), 0xFFFF);
  EXPECT_EQ(check_icrc(packet).reason, IcrcUnchecked::not_roce);

  const auto pause = from_hex("0180c200000102000000000188080001ffff");
  const Packet paused = parse_frame(pause, LinkType::ethernet);
  EXPECT_EQ(paused.kind(), PacketKind::pause);
  EXPECT_EQ(paused.get<Pause>()->quanta, 0xFFFF);

  const auto other = from_hex("0180c200000102000000000188080002ffff");
  EXPECT_EQ(parse_frame(other, LinkType::ethernet).kind(), PacketKind::mac_control);
  const auto cut = first(pfc, 30);
  EXPECT_EQ(to_string(parse_frame(cut, LinkType::ethernet).problem()), "truncated PFC at byte 16: need 18, have 14");
}

TEST(LinkControl, LldpIsVisitedTlvByTlv) {
  const auto frame = from_hex(
      "0180c200000e02000000000188cc02070402000000000104070302000000000106020078"
      "fe190080c209800001000032320000000000000202000000000000"
      "fe190080c20a000001000032320000000000000202000000000000"
      "fe060080c20b8808fe0e0080c20c006189156312b765001a0000");
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  EXPECT_EQ(packet.kind(), PacketKind::lldp);
  EXPECT_EQ(names_of(packet), "eth");
  EXPECT_EQ(packet.payload().size(), frame.size() - 14);
  std::string visited;
  visit_headers(packet, [&](const HeaderInfo& info, Bytes bytes, std::size_t offset) {
    visited += std::string{info.name} + '@' + std::to_string(offset) + ' ';
    EXPECT_EQ(bytes.data(), frame.data() + offset);
    EXPECT_EQ(bytes.size(), info.size);
  });
  EXPECT_EQ(visited,
            "eth@0 lldp_tlv@14 lldp_tlv@23 lldp_tlv@32 lldp_tlv@36 lldp_org@38 dcbx_ets@42 lldp_tlv@63 lldp_org@65 "
            "dcbx_ets_recommendation@69 lldp_tlv@90 lldp_org@92 dcbx_pfc@96 lldp_tlv@98 lldp_org@100 dcbx_app@104 "
            "dcbx_app_entry@105 dcbx_app_entry@108 dcbx_app_entry@111 lldp_tlv@114 ");
  for (std::size_t size = 14; size <= frame.size(); ++size) {
    const auto shorter = first(frame, size);
    visit_headers(parse_frame(shorter, LinkType::ethernet),
                  [&](const HeaderInfo&, Bytes bytes, std::size_t offset) { ASSERT_LE(offset + bytes.size(), size); });
  }
}

TEST(LinkControl, CongestionNotificationMessage) {
  std::mt19937 random(64);
  FrameStack stack{random};
  const auto cnm = test::random_header<Cnm>(random);
  stack.put(cnm).put(HeaderId::payload, test::random_bytes(60, random));
  CnTag tag;
  tag.flow_id = 0x1234;
  tag.ether_type = EtherType::cnm;
  stack.wrap(tag).ethernet(test::wrap_vlan(stack, EtherType::cn_tag));
  const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
  EXPECT_EQ(packet.kind(), PacketKind::cnm);
  EXPECT_EQ(names_of(packet), "eth vlan cn_tag cnm");
  EXPECT_EQ(packet.get<Cnm>(), cnm);
  EXPECT_EQ(packet.get<CnTag>(), tag);
  EXPECT_EQ(packet.payload().size(), 60U);
}

TEST(Net, ComesFromTheInnermostHeaders) {
  std::mt19937 random(65);
  FrameStack stack{random};
  Bth bth;
  bth.opcode = Opcode::rc_send_only;
  stack.put(bth).payload({}).udp().ipv4().ethernet(test::wrap_vlan(stack, EtherType::ipv4));
  const auto inner = stack.bytes();
  stack.wrap(test::random_header<Vxlan>(random)).udp(kVxlanPort).ipv6();
  stack.ethernet(test::wrap_vlan(stack, EtherType::ipv6));
  const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
  const NetMeta net = packet.net();
  const auto ip = read<Ipv4>(inner.data() + 18);
  EXPECT_EQ(net.version, RoceVersion::v2_ipv4);
  EXPECT_EQ(net.source, Gid::from_ipv4(ip.source));
  EXPECT_EQ(net.destination, Gid::from_ipv4(ip.destination));
  EXPECT_EQ(net.traffic_class, ip.dscp << 2 | ip.ecn);
  EXPECT_EQ(net.hop_limit, ip.ttl);
  EXPECT_EQ(net.ip_id, ip.identification);
  EXPECT_EQ(net.dont_fragment, ip.dont_fragment);
  EXPECT_EQ(net.udp_source_port, read<Udp>(inner.data() + 38).source_port);
  EXPECT_EQ(net.vlan_tci, load_big_endian<2>(inner.data() + 14));
  EXPECT_EQ(packet.get<Ipv4>(), ip);
}

TEST(UsualFrame, IsWhatTheLayersSay) {
  std::mt19937 random(66);
  std::size_t usual = 0;
  for (const test::Vector& vector : test::kVectors) {
    const auto frame = from_hex(vector.hex);
    for (int round = 0; round < 2000; ++round) {
      auto mutated = frame;
      const std::size_t changes = random() % 4;
      for (std::size_t i = 0; i < changes; ++i) {
        // Mostly in the headers, and often to a value close to the old one.
        auto& byte = mutated[random() % std::min<std::size_t>(mutated.size(), random() % 4 == 0 ? 999 : 56)];
        byte = random() % 2 == 0 ? static_cast<std::byte>(random())
                                 : static_cast<std::byte>(std::to_integer<unsigned>(byte) + random() % 9 - 4);
      }
      std::uint32_t reported = 0;
      if (random() % 4 == 0) {
        if (random() % 2 == 0) reported = static_cast<std::uint32_t>(random() % 100 + frame.size() - 50);
        mutated.resize(random() % 2 == 0 ? random() % (mutated.size() + 1) : mutated.size() + random() % 30);
      }
      const Packet packet = parse_frame(mutated, LinkType::ethernet, reported);
      usual += packet.has_icrc() && names_of(packet).starts_with("eth ip udp bth") ? 1 : 0;
      ASSERT_EQ(test::describe(packet), test::describe(test::parse_by_layers(mutated, reported)))
          << test::to_hex(mutated) << ' ' << reported;
    }
  }
  EXPECT_GT(usual, 2000U);
}

}  // namespace
}  // namespace roce
