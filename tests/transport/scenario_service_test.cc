// SPDX-License-Identifier: BSD-2-Clause
// Headers made from an address vector: traffic class, ECN, service level and PCP, source port, hop limit.
#include <gmock/gmock.h>

#include <array>

#include "roce/wire/grh.h"
#include "roce/wire/ipv6.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using transport::GidPrefix;
using transport::SlPolicy;
using transport::TrafficClassRule;
using transport::WorkOpcode;

constexpr std::array kVersions{RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6};

class ServiceScenario : public ScenarioTest {
 protected:
  using Adjust = std::function<void(transport::DeviceConfig&)>;

  /// The network headers of the first WRITE and of its ACK, as they were handed to the link.
  struct Seen {
    NetMeta request;
    NetMeta answer;
  };
  static Seen exchange(const Connection& connection, const Adjust& adjust = {}) {
    Pair::Options options = Pair::with(profile());
    options.connection = connection;
    options.a_host.adjust = adjust;
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    EXPECT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), testing::ElementsAre(Succeeded(1)));
    EXPECT_THAT(pair.network.trace(), testing::Each(HasGoodIcrc()));
    EXPECT_THAT(pair.network.trace(), testing::SizeIs(2));
    return {parse_frame(pair.network.trace().front().bytes, LinkType::ethernet).net(),
            parse_frame(pair.network.trace().back().bytes, LinkType::ethernet).net()};
  }
  /// Returns the traffic class on the wire for one without ECN bits: a profile that marks sets ECT(0).
  static std::uint8_t marked(std::uint8_t traffic_class, RoceVersion version = RoceVersion::v2_ipv4) {
    const bool marks = profile().mark_ect && version != RoceVersion::v1;
    return static_cast<std::uint8_t>(traffic_class | (marks ? 2 : 0));
  }
  /// Returns `10.0.third.0/bits` in the mapped form; 10.0.0.0 is the network of the hosts' addresses without a VLAN.
  static GidPrefix subnet(std::uint8_t third, std::uint8_t bits) {
    return {.gid = Gid::from_ipv4({{10, 0, third, 0}}), .bits = static_cast<std::uint8_t>(96 + bits)};
  }
};

TEST_P(ServiceScenario, TheTrafficClassIsThatOfTheAddressVectorWithEct) {
  for (const RoceVersion version : kVersions) {
    SCOPED_TRACE(to_string(version));
    const Seen plain = exchange({.path = {version}, .traffic_class = 26 << 2});
    EXPECT_EQ(plain.request.traffic_class, marked(26 << 2, version));
    EXPECT_EQ(plain.answer.traffic_class, marked(26 << 2, version)) << "ACKs too";
    // ECT(1) set by the caller is kept.
    EXPECT_EQ(exchange({.path = {version}, .traffic_class = 26 << 2 | 1}).request.traffic_class, 26 << 2 | 1);
    EXPECT_EQ(exchange({.path = {version}}).request.traffic_class, marked(0, version));
  }
}

TEST_P(ServiceScenario, AGlobalTrafficClassWinsThenTheFirstRuleThatMatches) {
  const Connection connection{.traffic_class = 0x20};
  const auto sent = [&](const std::optional<std::uint8_t>& global, const std::vector<TrafficClassRule>& rules) {
    return exchange(connection,
                    [&](transport::DeviceConfig& config) {
                      config.traffic_class = {global, rules};
                    })
        .request.traffic_class;
  };
  const TrafficClassRule by_source{.source = subnet(0, 24), .traffic_class = 0x40};
  const TrafficClassRule by_destination{.destination = subnet(0, 24), .traffic_class = 0x60};
  const TrafficClassRule by_both{.source = subnet(0, 24), .destination = subnet(0, 30), .traffic_class = 0x80};
  const TrafficClassRule elsewhere{.destination = subnet(7, 24), .traffic_class = 0xA0};
  const TrafficClassRule half{.source = subnet(0, 24), .destination = subnet(7, 24), .traffic_class = 0xC0};
  EXPECT_EQ(sent({}, {}), marked(0x20));
  EXPECT_EQ(sent({}, {elsewhere}), marked(0x20));
  EXPECT_EQ(sent({}, {half}), marked(0x20)) << "both prefixes have to match";
  EXPECT_EQ(sent({}, {by_source}), marked(0x40));
  EXPECT_EQ(sent({}, {by_destination}), marked(0x60));
  EXPECT_EQ(sent({}, {by_both}), marked(0x80));
  EXPECT_EQ(sent({}, {elsewhere, by_destination, by_source}), marked(0x60)) << "the first that matches";
  EXPECT_EQ(sent(0xE0, {by_source}), marked(0xE0)) << "the global value wins";
  EXPECT_EQ(sent(0, {by_source}), marked(0)) << "also when it is 0";
}

TEST_P(ServiceScenario, RulesAreForTheSendersAddresses) {
  Pair::Options options = Pair::with(profile());
  options.b_host = options.a_host;
  options.a_host.adjust = [](transport::DeviceConfig& config) { config.traffic_class.global = 0x40; };
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  const Packet answer = parse_frame(pair.network.trace().back().bytes, LinkType::ethernet);
  EXPECT_EQ(answer.net().traffic_class, marked(0)) << "the peer has its own configuration";
}

/// A TOS byte and its service level under each policy: the kernel's ip_tos2prio, and the one that mlx5 uses.
struct TosCase {
  std::uint8_t tos;
  std::uint8_t linux_table;
  std::uint8_t mlnx;
};
constexpr std::array kTosCases{TosCase{0x00, 0, 0}, TosCase{0x04, 0, 0}, TosCase{0x08, 2, 0}, TosCase{0x10, 6, 0},
                               TosCase{0x18, 4, 0}, TosCase{0x20, 0, 1}, TosCase{0x68, 2, 3}, TosCase{0x70, 6, 3},
                               TosCase{0xB8, 4, 5}, TosCase{0xE0, 0, 7}};

TEST_P(ServiceScenario, TheTagsPriorityIsTheServiceLevelOfThePolicy) {
  for (const RoceVersion version : kVersions) {
    for (const TosCase& tos : kTosCases) {
      for (const SlPolicy policy : {SlPolicy::linux_table, SlPolicy::mlnx}) {
        SCOPED_TRACE(testing::Message() << to_string(version) << ", TOS " << int{tos.tos}
                                        << (policy == SlPolicy::mlnx ? ", mlnx" : ", linux"));
        const Seen seen = exchange({.path = {version, true}, .traffic_class = tos.tos},
                                   [&](transport::DeviceConfig& config) { config.sl_policy = policy; });
        const int level = policy == SlPolicy::mlnx ? tos.mlnx : tos.linux_table;
        EXPECT_EQ(seen.request.vlan_tci, kVlan | level << 13);
        EXPECT_EQ(seen.answer.vlan_tci, kVlan | level << 13);
      }
    }
  }
}

TEST_P(ServiceScenario, AnExplicitServiceLevelWinsAndTheGidsPriorityWinsOverIt) {
  const Path tagged{RoceVersion::v2_ipv4, true};
  const Connection connection{.path = tagged, .traffic_class = 0x10, .service_level = 5};
  EXPECT_EQ(exchange(connection).request.vlan_tci, kVlan | 5 << 13);
  const auto with_priority = [&](transport::DeviceConfig& config) {
    config.gids.at(Host::gid_index(tagged)).priority = 3;
  };
  EXPECT_EQ(exchange(connection, with_priority).request.vlan_tci, kVlan | 3 << 13);
  EXPECT_EQ(exchange({.service_level = 5}).request.vlan_tci, std::nullopt) << "no tag to carry it";
}

TEST_P(ServiceScenario, TheServiceLevelFollowsTheOverriddenTrafficClass) {
  const Seen seen =
      exchange({.path = {RoceVersion::v2_ipv4, true}, .traffic_class = 0x20}, [](transport::DeviceConfig& config) {
        config.traffic_class.global = 0xE0;
        config.sl_policy = SlPolicy::mlnx;
      });
  EXPECT_EQ(seen.request.vlan_tci, kVlan | 7 << 13);
}

TEST_P(ServiceScenario, ADerivedServiceLevelIsTheClassThatCanBePaused) {
  Pair::Options options = Pair::with(profile());
  options.connection.traffic_class = 0x10;  // 6 by the kernel's table
  Pair pair{options};
  must(pair.a.device().set_paused(6, true));
  pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_for(std::chrono::milliseconds{1}));
  EXPECT_THAT(pair.a.sent(), testing::IsEmpty());
  must(pair.a.device().set_paused(6, false));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), testing::SizeIs(1));
}

TEST_P(ServiceScenario, TheSourcePortComesFromTheFlowLabelOrTheQpns) {
  for (const RoceVersion version : {RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    // Linux rdma_flow_label_to_udp_sport: the upper six bits folded into the lower fourteen.
    EXPECT_EQ(exchange({.path = {version}, .flow_label = 0x12345}).request.udp_source_port, 0xC000 | (0x2345 ^ 0x4));
    EXPECT_EQ(exchange({.path = {version}, .flow_label = 0xFFFFF}).request.udp_source_port, 0xC000 | (0x3FFF ^ 0x3F));
    EXPECT_EQ(exchange({.path = {version}, .flow_label = 1}).request.udp_source_port, 0xC001);
    // Linux rdma_calc_flow_label: both QPNs are 0x11, their product is 0x121.
    const Seen seen = exchange({.path = {version}});
    EXPECT_EQ(seen.request.udp_source_port, 0xC121);
    EXPECT_EQ(seen.answer.udp_source_port, 0xC121) << "both directions of a connection have the same port";
  }
}

TEST_P(ServiceScenario, TheHopLimitIsTheDevicesUnlessTheAddressVectorHasOne) {
  const auto adjust = [](transport::DeviceConfig& config) { config.hop_limit = 31; };
  for (const RoceVersion version : kVersions) {
    SCOPED_TRACE(to_string(version));
    EXPECT_EQ(exchange({.path = {version}}).request.hop_limit, 64);
    EXPECT_EQ(exchange({.path = {version}}, adjust).request.hop_limit, 31);
    Pair::Options options = Pair::with(profile());
    options.is_connected = false;
    options.a_host.adjust = adjust;
    options.connection.path.version = version;
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    const auto bring_up = [&](Endpoint& from, const Endpoint& to, Psn own, Psn peer) {
      from.set_peer(to);
      from.modify(to_init(options.connection, transport::QpType::rc));
      transport::QpChange change = to_rtr(options.connection, to, peer, transport::QpType::rc);
      change.address->hop_limit = 7;
      from.modify(change);
      from.modify(to_rts(options.connection, own, transport::QpType::rc));
    };
    bring_up(pair.a, pair.b, Psn{1}, Psn{2});
    bring_up(pair.b, pair.a, Psn{2}, Psn{1});
    pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_EQ(parse_frame(pair.network.trace().front().bytes, LinkType::ethernet).net().hop_limit, 7);
  }
}

ROCE_UNDER_EACH_PROFILE(ServiceScenario);

}  // namespace
}  // namespace roce::sim
