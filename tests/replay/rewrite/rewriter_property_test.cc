// SPDX-License-Identifier: BSD-2-Clause
// Properties of every rule, with every frame of every capture in the source tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "replay/rewrite/rewriter.h"
#include "roce/wire/cma.h"
#include "roce/wire/frame_seal.h"
#include "roce/wire/super_frame.h"
#include "tests/replay/rewrite/rewritten.h"

namespace roce::replay::test {
namespace {

using ::testing::ElementsAreArray;

/// A rewriting, how to undo it, and the values that it may change.
struct Rewriting {
  const char* name;
  std::vector<Text> there;
  std::vector<Text> back;
  std::vector<std::string> changed;
};

std::ostream& operator<<(std::ostream& out, const Rewriting& rewriting) {
  return out << rewriting.name;
}

std::vector<std::string> with(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

const std::vector<std::string> kAddresses{
    "eth.src", "eth.dst", "ip.src", "ip.dst", "ip[1].src", "ip[1].dst", "ipv6.src", "ipv6.dst", "grh.sgid", "grh.dgid",
    "cm_req.primary_local_gid", "cm_req.primary_remote_gid", "cma.source_address", "cma.destination_address",
    "cm_req.private_data", "nd_solicitation.target", "nd_advertisement.target", "arp.sender_ip", "arp.target_ip",
    "arp.sender_mac", "arp.target_mac", "nd_link_layer.address", "payload",
    // These checksums cover the addresses.
    "icmpv6.checksum", "udp.checksum"};

const std::vector<Rewriting>& rewritings() {
  static const std::vector<Rewriting> all{
      {"nothing", {}, {}, {}},
      {"addresses",
       {{read_ip_map, "10.77.0.0/24=198.18.5.0/24"}, {read_ip_map, "fd77::/64=fd99::/64"}},
       {{read_ip_map, "198.18.5.0/24=10.77.0.0/24"}, {read_ip_map, "fd99::/64=fd77::/64"}},
       kAddresses},
      {"qpns",
       {{read_qpn_map, "0x11=0x800011"}, {read_qpn_map, "0x12=0x800012"}, {read_qpn_map, "0x13@10.77.0.2=0x800013"}},
       {{read_qpn_map, "0x800011=0x11"}, {read_qpn_map, "0x800012=0x12"}, {read_qpn_map, "0x800013@10.77.0.2=0x13"}},
       {"bth.dest_qp", "deth.src_qp", "cm_req.local_qpn", "cm_rep.local_qpn", "cm_dreq.remote_qpn", "cm_sidr_rep.qpn",
        "cm_lap.remote_qpn"}},
      {"psns",
       {{read_psn_offset, "-100000"}},
       {{read_psn_offset, "100000"}},
       {"bth.psn", "cm_req.starting_psn", "cm_rep.starting_psn"}},
      {"keys",
       {{read_p_key_map, "0xffff=0x8001"}, {read_q_key_map, "0x11111111=0x22"}, {read_r_key_map, "0x1000=0x2000"}},
       {{read_p_key_map, "0x8001=0xffff"}, {read_q_key_map, "0x22=0x11111111"}, {read_r_key_map, "0x2000=0x1000"}},
       {"bth.p_key", "deth.q_key", "cm_req.p_key", "cm_req.local_q_key", "cm_rep.local_q_key", "cm_sidr_req.p_key",
        "cm_sidr_rep.q_key", "reth.r_key", "atomiceth.r_key", "ieth.r_key"}},
      {"virtual_addresses",
       {{read_va_map, "0+0x1000000000000=0x7700000000000000"}},
       {{read_va_map, "0x7700000000000000+0x1000000000000=0"}},
       {"reth.va", "atomiceth.va"}},
      {"a_tag",
       {{read_vlan_tag, "7:3"}},
       {},
       {"eth.type", "eth[1].type", "vlan.pcp", "vlan.dei", "vlan.vid", "vlan.type"}},
  };
  return all;
}

/// True if a frame is one packet, or none; a super-frame is cut and does not come back as one.
bool is_single(const Frame& frame) {
  const Packet packet = frame.parse();
  return !packet.is_roce() || check_icrc(packet).status == IcrcStatus::good || !find_super_frame(packet);
}

/// True if the rules can be applied to a frame: a tag needs an Ethernet header.
bool can_be_rewritten(const Frame& frame, const RewriteRules& rules) {
  return !rules.add_vlan || frame.parse().find(HeaderId::ethernet);
}

class EveryRewriting : public ::testing::TestWithParam<Rewriting> {};

TEST_P(EveryRewriting, KeepsEveryGoodIcrcGoodAndEveryChecksumRight) {
  Rewriter rewriter{rules_of(GetParam().there)};
  std::size_t good = 0;
  for (const Frame& frame : all_frames()) {
    if (!can_be_rewritten(frame, rewriter.rules())) continue;
    const FrameSeal before{frame.parse()};
    for (const Frame& out : rewritten(rewriter, frame)) {
      const FrameSeal after{out.parse()};
      if (is_single(frame)) {
        ASSERT_EQ(after.icrc_error(), before.icrc_error());
        ASSERT_EQ(after.wrong_checksums(), before.wrong_checksums());
      } else {
        ASSERT_EQ(check_icrc(out.parse()).status, IcrcStatus::good);
      }
      if (after.icrc_error() == 0U) ++good;
      ASSERT_EQ(out.parse().problem().reason, frame.parse().problem().reason);
    }
  }
  EXPECT_GT(good, 1000U);
}

TEST_P(EveryRewriting, ChangesNothingElse) {
  Rewriter rewriter{rules_of(GetParam().there)};
  for (const Frame& frame : all_frames()) {
    if (!can_be_rewritten(frame, rewriter.rules())) continue;
    // The index of each tag of a frame grows by one when another tag is put in front of them.
    if (!is_single(frame) || (rewriter.rules().add_vlan && frame.parse().find(HeaderId::vlan))) continue;
    const std::vector<Frame> out = rewritten(rewriter, frame);
    ASSERT_EQ(out.size(), 1U);
    const bool has_bad_icrc = FrameSeal{frame.parse()}.icrc_error().value_or(0) != 0;
    const std::vector<std::string> changed = has_bad_icrc ? with(GetParam().changed, {"icrc"}) : GetParam().changed;
    ASSERT_THAT(values_of(out[0].parse(), changed), ElementsAreArray(values_of(frame.parse(), changed)));
  }
}

TEST_P(EveryRewriting, ThereAndBackIsTheIdentity) {
  Rewriter there{rules_of(GetParam().there)};
  RewriteRules undo = rules_of(GetParam().back);
  undo.remove_vlan = there.rules().add_vlan.has_value();
  Rewriter back{undo};
  std::size_t changed = 0;
  for (const Frame& frame : all_frames()) {
    if (!is_single(frame) || !can_be_rewritten(frame, there.rules())) continue;
    if (undo.remove_vlan && frame.parse().find(HeaderId::vlan)) continue;
    const std::vector<Frame> out = rewritten(there, frame);
    ASSERT_EQ(out.size(), 1U);
    const std::vector<Frame> again = rewritten(back, out[0]);
    ASSERT_EQ(again.size(), 1U);
    ASSERT_EQ(again[0], frame);
    if (out[0] != frame) ++changed;
  }
  EXPECT_EQ(changed > 10, !GetParam().there.empty());
}

INSTANTIATE_TEST_SUITE_P(Rewritings, EveryRewriting, ::testing::ValuesIn(rewritings()),
                         [](const auto& one) { return std::string{one.param.name}; });

/// Expects that a packet of one version comes back as it was.
void expect_round_trip(const Frame& frame, const std::vector<Text>& there, ToVersion to, const std::vector<Text>& back,
                       ToVersion from, RoceVersion between) {
  RewriteRules first = rules_of(there);
  first.version = to;
  RewriteRules second = rules_of(back);
  second.version = from;
  Rewriter out{first};
  Rewriter in{second};
  const std::vector<Frame> changed = rewritten(out, frame);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].parse().version(), between);
  EXPECT_EQ(check_icrc(changed[0].parse()).status, check_icrc(frame.parse()).status);
  EXPECT_EQ(FrameSeal{changed[0].parse()}.wrong_checksums(), 0U);
  EXPECT_EQ(changed[0].parse().problem(), ParseError{});
  const std::vector<Frame> again = rewritten(in, changed[0]);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0], frame);
}

TEST(Versions, V1ToV2AndBackIsTheIdentity) {
  std::size_t count = 0;
  for (const Frame& frame : all_frames()) {
    if (frame.parse().version() != RoceVersion::v1) continue;
    // The GIDs of these frames are IPv6 or IPv4, and v2 follows them.
    const bool is_ipv4 = frame.parse().net().source.is_ipv4_mapped();
    expect_round_trip(frame, {}, ToVersion::v2, {}, ToVersion::v1,
                      is_ipv4 ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6);
    ++count;
  }
  EXPECT_GT(count, 50U);
}

TEST(Versions, V2OverIpv6ToV1AndBackIsTheIdentityButForTheUdpPort) {
  std::size_t count = 0;
  for (const Frame& frame : all_frames()) {
    const Packet packet = frame.parse();
    const bool is_plain = packet.version() == RoceVersion::v2_ipv6 && packet.layers()[0].id == HeaderId::ethernet &&
                          packet.layers()[1].id == HeaderId::ipv6 && packet.layers()[2].id == HeaderId::udp;
    if (!is_plain || packet.problem() != ParseError{} || !is_single(frame)) continue;
    const std::string port = std::to_string(packet.net().udp_source_port);
    // A UDP checksum does not survive either.
    if (packet.get<Udp>()->checksum != 0) continue;
    expect_round_trip(frame, {}, ToVersion::v1, {{read_source_port, port}}, ToVersion::v2_ipv6, RoceVersion::v1);
    ++count;
  }
  EXPECT_GT(count, 50U);
}

TEST(Versions, Ipv4ToIpv6AndBackByTheAddressMapAlone) {
  const std::vector<Text> there{{read_ip_map, "10.77.0.0/24=2001:db8::/120"}};
  const std::vector<Text> back{{read_ip_map, "2001:db8::/120=10.77.0.0/24"}};
  Rewriter out{rules_of(there)};
  Rewriter in{rules_of(back)};
  std::size_t count = 0;
  for (const Frame& frame : all_frames()) {
    const Packet packet = frame.parse();
    const auto in_net = [](const Gid& gid) { return gid.ipv4().octets[0] == 10 && gid.ipv4().octets[1] == 77; };
    const NetMeta net = packet.net();
    if (packet.version() != RoceVersion::v2_ipv4 || !in_net(net.source) || !in_net(net.destination)) continue;
    const std::vector<Frame> changed = rewritten(out, frame);
    ASSERT_EQ(changed.size(), 1U);
    ASSERT_EQ(changed[0].parse().version(), RoceVersion::v2_ipv6);
    ASSERT_EQ(FrameSeal{changed[0].parse()}.icrc_error(), FrameSeal{packet}.icrc_error());
    if (const auto cma = changed[0].parse().get<Cma>()) {
      EXPECT_EQ(cma->ip_version, 6);
      EXPECT_EQ(to_string(cma->source_address).substr(0, 9), "2001:db8:");
    }
    const std::vector<Frame> again = rewritten(in, changed[0]);
    // The IPv4 identification is the one value that an IPv6 header has no room for.
    const std::vector<std::string> lost{"ip.id", "ip.df", "icrc"};
    ASSERT_THAT(values_of(again[0].parse(), lost), ElementsAreArray(values_of(packet, lost)));
    ++count;
  }
  EXPECT_GT(count, 1000U);
}

}  // namespace
}  // namespace roce::replay::test
