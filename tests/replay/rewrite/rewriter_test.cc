// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "roce/wire/cma.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/packet_spec.h"
#include "tests/replay/rewrite/rewritten.h"

namespace roce::replay::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Frame built(const std::string& text) {
  std::vector<std::byte> bytes = PacketSpec::from_text(text).value().build().value();
  const auto length = static_cast<std::uint32_t>(bytes.size());
  return {std::move(bytes), LinkType::ethernet, length};
}

std::string text_of(const Frame& frame) {
  return PacketSpec::from_packet(frame.parse()).to_text();
}

/// Returns the text of what a frame becomes; wrong check values in it are repaired.
std::string become(const Frame& frame, const std::vector<Text>& texts,
                   const std::function<void(RewriteRules&)>& change = {}) {
  RewriteRules rules = rules_of(texts);
  rules.keep_unmapped = false;
  rules.keep_bad_icrc = false;
  rules.keep_bad_checksums = false;
  if (change) change(rules);
  Rewriter rewriter{rules};
  const std::vector<Frame> out = rewritten(rewriter, frame);
  return out.empty() ? "" : text_of(out[0]);
}

std::string problem(const Frame& frame, const std::vector<Text>& texts,
                    const std::function<void(RewriteRules&)>& change = {}) {
  try {
    become(frame, texts, change);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

const std::string kSend =
    "headers: eth ip udp bth\nip.src: 10.0.0.1\nip.dst: 10.0.0.2\nopcode: RC_SEND_ONLY\n"
    "bth.dest_qp: 0x11\nbth.psn: 5\npayload: 01020304\n";

TEST(IpMap, AnAddressThatItLeavesOpenIsNamed) {
  EXPECT_THAT(problem(built(kSend), {{read_ip_map, "10.0.0.1=192.0.2.1"}}), HasSubstr("10.0.0.2 is in no --ip-map"));
  EXPECT_THAT(become(built(kSend), {{read_ip_map, "10.0.0.1=192.0.2.1"}},
                     [](RewriteRules& rules) { rules.keep_unmapped = true; }),
              AllOf(HasSubstr("ip.src: 192.0.2.1"), HasSubstr("ip.dst: 10.0.0.2")));
}

TEST(IpMap, TheLongestPrefixCounts) {
  EXPECT_THAT(become(built(kSend), {{read_ip_map, "10.0.0.0/8=11.0.0.0/8"}, {read_ip_map, "10.0.0.2=192.0.2.2"}}),
              AllOf(HasSubstr("ip.src: 11.0.0.1"), HasSubstr("ip.dst: 192.0.2.2")));
}

TEST(IpMap, OneHeaderCannotHoldBothFamilies) {
  EXPECT_THAT(problem(built(kSend), {{read_ip_map, "10.0.0.1=fd00::1"}, {read_ip_map, "10.0.0.2=192.0.2.2"}}),
              AllOf(HasSubstr("fd00::1 is IPv6"), HasSubstr("192.0.2.2 is IPv4")));
}

TEST(IpMap, OtherFramesFollowOrAreLeftOut) {
  const Frame arp = built("headers: eth arp\narp.sender_ip: 10.0.0.1\narp.target_ip: 10.0.0.2\n");
  EXPECT_THAT(become(arp, {{read_ip_map, "10.0.0.1=192.0.2.1"}}),
              // The rule covers the sender, but not the target.
              AllOf(HasSubstr("c0000201"), HasSubstr("0a000002"), Not(HasSubstr("0a000001"))));
  Rewriter rewriter{rules_of({{read_ip_map, "10.0.0.1=fd00::1"}})};
  EXPECT_THAT(rewritten(rewriter, arp), IsEmpty());
  EXPECT_EQ(rewriter.counts().unconvertible, 1U);
}

TEST(ToVersion, TheFamilyThatWasAskedForMustFit) {
  EXPECT_THAT(problem(built(kSend), {}, [](RewriteRules& rules) { rules.version = ToVersion::v2_ipv6; }),
              HasSubstr("10.0.0.1 is an IPv4 address, and v2_ipv6 was asked for"));
  EXPECT_THAT(become(built(kSend), {}, [](RewriteRules& rules) { rules.version = ToVersion::v1; }),
              AllOf(HasSubstr("headers: eth grh bth"), HasSubstr("grh.sgid: 10.0.0.1")));
}

TEST(Link, AddressesAndTags) {
  EXPECT_THAT(
      become(built("headers: eth vlan ip udp bth\neth.src: 02:00:00:00:00:01\nvlan.vid: 5\n" + kSend.substr(24)),
             {{read_mac_map, "02:00:00:00:00:01=02:00:00:00:00:09"}, {read_vlan_map, "5=6"}},
             [](RewriteRules& rules) {
               rules.pcp = 4;
               rules.source_mac = MacAddress{{2, 2, 2, 2, 2, 2}};
               rules.destination_mac = MacAddress{{2, 2, 2, 2, 2, 3}};
             }),
      AllOf(HasSubstr("eth.src: 02:00:00:00:00:09"), HasSubstr("eth.dst: 02:02:02:02:02:03"), HasSubstr("vlan.vid: 6"),
            HasSubstr("vlan.pcp: 4")));
}

TEST(Network, MarksHopsAndPorts) {
  const auto marks = [](RewriteRules& rules) {
    rules.dscp = 26;
    rules.ecn = 3;
    rules.hop_limit = 7;
  };
  EXPECT_THAT(
      become(built(kSend), {{read_source_port, "4000"}}, marks),
      AllOf(HasSubstr("ip.dscp: 26"), HasSubstr("ip.ecn: CE"), HasSubstr("ip.ttl: 7"), HasSubstr("udp.srcport: 4000")));
  const std::string ipv6 = "headers: eth ipv6 udp bth\nipv6.flow_label: 0x12345\nopcode: RC_SEND_ONLY\n";
  // 0xC000 | (0x12345 & 0x3FFF ^ 0x12345 >> 14), as Linux's rdma_flow_label_to_udp_sport.
  EXPECT_THAT(become(built(ipv6), {{read_source_port, "flow-label"}}), HasSubstr("udp.srcport: 58177"));
}

TEST(SourcePort, RandomIsOneForEachQp) {
  RewriteRules rules = rules_of({{read_source_port, "random"}});
  Rewriter rewriter{rules};
  const auto port = [&](const std::string& qp) {
    const Frame frame = built(kSend + "bth.dest_qp: " + qp + "\n");
    return rewritten(rewriter, frame)[0].parse().net().udp_source_port;
  };
  EXPECT_EQ(port("1000"), port("1000"));
  EXPECT_NE(port("1000"), port("1001"));
  EXPECT_GE(port("1000"), 0xC000);
}

TEST(Qpn, BelongsToAHost) {
  EXPECT_THAT(become(built(kSend), {{read_qpn_map, "0x11@10.0.0.1=0x99"}}), HasSubstr("bth.dest_qp: 0x000011"));
  EXPECT_THAT(become(built(kSend), {{read_qpn_map, "0x11@10.0.0.2=0x99"}}), HasSubstr("bth.dest_qp: 0x000099"));
}

TEST(Psn, WrapsAndLeavesACnpAlone) {
  EXPECT_THAT(become(built(kSend), {{read_psn_offset, "-6"}}), HasSubstr("bth.psn: 16777215"));
  EXPECT_THAT(become(built("headers: eth ip udp bth\nopcode: CNP\n"), {{read_psn_offset, "-6"}}),
              Not(HasSubstr("bth.psn")));
}

TEST(VirtualAddresses, MoveWithinARange) {
  const auto write_at = [](const char* va) {
    return built("headers: eth ip udp bth\nopcode: RC_WRITE_ONLY\nreth.va: " + std::string{va} + "\n");
  };
  const std::vector<Text> move{{read_va_map, "0x7f00+0x100=0x10000"}};
  EXPECT_THAT(become(write_at("0x7fff"), move), HasSubstr("reth.va: 0x00000000000100ff"));
  EXPECT_THAT(become(write_at("0x8000"), move), HasSubstr("reth.va: 0x0000000000008000"));
}

TEST(Set, AnyFieldAndItsChecks) {
  const Frame frame = built(kSend);
  EXPECT_THAT(become(frame, {{read_field_setting, "bth.mig_req=true"}, {read_field_setting, "ip.ttl=3"}}),
              AllOf(HasSubstr("bth.mig_req: true"), HasSubstr("ip.ttl: 3"), Not(HasSubstr("icrc")),
                    Not(HasSubstr("checksum"))));
  EXPECT_THAT(become(frame, {{read_field_setting, "ip.checksum=0x1234"}}), HasSubstr("ip.checksum: 0x1234"));
  const Frame tagged = built("headers: eth vlan vlan ip udp bth\n" + kSend.substr(24));
  EXPECT_THAT(become(tagged, {{read_field_setting, "vlan[1].vid=5"}}),
              AllOf(HasSubstr("vlan[1].vid: 5"), Not(HasSubstr("vlan.vid"))));
}

TEST(Tunnels, AreTakenOff) {
  const Frame frame = built(
      "headers: eth ip udp vxlan eth ip udp bth\nip.src: 172.16.0.1\nip[1].src: 10.0.0.1\n"
      "ip[1].dst: 10.0.0.2\nopcode: RC_SEND_ONLY\n");
  const auto strip = [](RewriteRules& rules) { rules.strip_tunnels = true; };
  EXPECT_THAT(become(frame, {{read_ip_map, "10.0.0.0/24=192.0.2.0/24"}}, strip),
              AllOf(HasSubstr("headers: eth ip udp bth"), HasSubstr("ip.src: 192.0.2.1"), Not(HasSubstr("172"))));
  // Addresses in the headers around a packet may be left open.
  EXPECT_THAT(become(frame, {{read_ip_map, "10.0.0.0/24=192.0.2.0/24"}}), HasSubstr("ip.src: 172.16.0.1"));
}

TEST(LinkType, WhatItCannotHoldIsRefused) {
  const auto without_ethernet = [](const std::string& headers, LinkType link_type) {
    Frame frame = built("headers: " + headers + "\nopcode: RC_SEND_ONLY\n");
    frame.link_type = link_type;
    return frame;
  };
  const auto strip = [](RewriteRules& rules) { rules.strip_tunnels = true; };
  EXPECT_THAT(problem(without_ethernet("ip udp vxlan eth ip udp bth", LinkType::raw_ip), {}, strip),
              HasSubstr("does not fit the link type"));
  EXPECT_THAT(problem(without_ethernet("ip udp bth", LinkType::ipv4), {{read_ip_map, "0.0.0.0=fd00::1"}}),
              HasSubstr("does not fit the link type"));
  EXPECT_EQ(problem(without_ethernet("ip udp bth", LinkType::raw_ip), {{read_ip_map, "0.0.0.0=fd00::1"}}), "");
  EXPECT_THAT(problem(without_ethernet("ip udp bth", LinkType::raw_ip), {{read_vlan_tag, "5"}}),
              HasSubstr("no Ethernet header"));
}

TEST(WrongIcrc, IsRepairedUnlessKept) {
  const Frame frame = built(kSend + "icrc: wrong\n");
  EXPECT_THAT(become(frame, {{read_psn_offset, "1"}}), Not(HasSubstr("icrc")));
  EXPECT_THAT(become(frame, {{read_psn_offset, "1"}}, [](RewriteRules& rules) { rules.keep_bad_icrc = true; }),
              HasSubstr("icrc"));
}

TEST(CutFrame, IsRewrittenWithoutItsIcrc) {
  Frame frame = built(kSend + "payload_length: 200\n");
  const std::uint32_t length = frame.reported_length;
  frame.bytes.resize(100);
  Rewriter rewriter{rules_of({{read_ip_map, "10.0.0.1=192.0.2.1"}, {read_vlan_tag, "5"}})};
  const std::vector<Frame> out = rewritten(rewriter, frame);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].bytes.size(), 104U);
  EXPECT_EQ(out[0].reported_length, length + 4);
  EXPECT_EQ(to_string(out[0].parse().net().source), "192.0.2.1");
  EXPECT_EQ(FrameSeal{out[0].parse()}.wrong_checksums(), 0U);
  EXPECT_EQ(rewriter.counts().cut_short, 1U);
}

RewriteRules anonymous(std::uint64_t key) {
  RewriteRules rules;
  rules.anonymise = PseudonymKey{key, 2};
  return rules;
}

TEST(Anonymise, LeavesNothingOfAddressesKeysAndPayload) {
  const std::string text =
      "headers: eth ip udp bth\neth.src: 52:54:00:12:34:56\nip.src: 10.0.0.1\nip.dst: 10.0.0.2\nopcode: RC_WRITE_ONLY\n"
      "reth.va: 0x7f1234567000\nreth.r_key: 0x1234\nreth.dma_length: 8\npayload: 0102030405060708\ntrailer: aabbcc\n";
  Rewriter rewriter{anonymous(1)};
  const std::string out = text_of(rewritten(rewriter, built(text)).at(0));
  for (const char* secret :
       {"52:54", "10.0.0.1\n", "10.0.0.2\n", "7f1234567", "0x00001234", "01020304", "aabbcc", "icrc"}) {
    EXPECT_THAT(out, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(out, AllOf(HasSubstr("eth.src: 02:"), HasSubstr("ip.src: 10."), HasSubstr("dma_length: 8")));
}

TEST(Anonymise, IsConsistentAndDependsOnTheKey) {
  Rewriter one{anonymous(1)};
  Rewriter again{anonymous(1)};
  Rewriter other{anonymous(2)};
  const Frame there = built(kSend);
  const Frame back = built(
      "headers: eth ip udp bth\nip.src: 10.0.0.2\nip.dst: 10.0.0.1\nopcode: RC_SEND_ONLY\n"
      "payload: 01020304\n");
  const Frame out = rewritten(one, there).at(0);
  EXPECT_EQ(rewritten(again, there).at(0), out);
  EXPECT_NE(rewritten(other, there).at(0), out);
  const Frame answer = rewritten(one, back).at(0);
  EXPECT_EQ(answer.parse().net().source, out.parse().net().destination);
  EXPECT_EQ(answer.parse().net().destination, out.parse().net().source);
  // A repeated payload becomes the same again.
  EXPECT_TRUE(std::ranges::equal(answer.parse().payload(), out.parse().payload()));
}

TEST(Anonymise, LeavesOtherFramesOut) {
  Rewriter rewriter{anonymous(1)};
  EXPECT_THAT(rewritten(rewriter, built("headers: eth arp\n")), IsEmpty());
  EXPECT_THAT(rewritten(rewriter, built("headers: eth ip\nip.protocol: 6\npayload: 01020304\n")), IsEmpty());
  EXPECT_EQ(rewriter.counts().left_out, 2U);
}

TEST(Anonymise, HidesWhatIsInsideCmMessages) {
  Rewriter rewriter{anonymous(1)};
  std::size_t requests = 0;
  for (const Frame& frame : all_frames()) {
    const Packet packet = frame.parse();
    const auto cma = packet.get<Cma>();
    if (!cma || check_icrc(packet).status != IcrcStatus::good) continue;
    const Frame out = rewritten(rewriter, frame).at(0);
    const Packet hidden = out.parse();
    ASSERT_TRUE(hidden.get<Cma>());
    EXPECT_EQ(hidden.get<Cma>()->source_gid(), hidden.net().source);
    EXPECT_EQ(hidden.get<Cma>()->destination_gid(), hidden.net().destination);
    EXPECT_NE(hidden.get<Cma>()->source_gid(), cma->source_gid());
    EXPECT_EQ(check_icrc(hidden).status, IcrcStatus::good);
    ++requests;
  }
  EXPECT_GT(requests, 5U);
}

}  // namespace
}  // namespace roce::replay::test
