// SPDX-License-Identifier: BSD-2-Clause
// UD: addressing, the 40-byte header area, keys, and multicast through a switch.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <set>

#include "roce/wire/deth.h"
#include "roce/wire/grh.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv6.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using transport::Completion;
using transport::CompletionStatus;
using transport::QpType;
using transport::WorkOpcode;

constexpr std::uint32_t kArea = 40;

class DatagramScenario : public ScenarioTest {
 protected:
  static Pair::Options options(Path path = {}) {
    Pair::Options options = Pair::with(profile());
    options.a_endpoint.type = QpType::ud;
    options.connection.path = path;
    return options;
  }
  /// Returns a datagram from `a` to `b`.
  static Work datagram(Pair& pair, const Connection& connection, std::uint32_t length) {
    return {.opcode = WorkOpcode::send_with_immediate,
            .length = length,
            .immediate = 0xABCD,
            .datagram = {.ah = address_of(pair.a, pair.b_host, connection), .qpn = pair.b.qpn(), .q_key = kQKey}};
  }
};

TEST_P(DatagramScenario, ArriveBehindTheirNetworkHeader) {
  for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    for (const bool vlan : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(version) << (vlan ? ", VLAN" : ""));
      Pair::Options options = DatagramScenario::options({version, vlan});
      Pair pair{options};
      pair.network.keep_trace(Tap::sent);
      for (const std::uint32_t size : {0U, 1U, 1000U, 4096U}) {
        pair.b.clear_completions();
        pair.b.post_receive(0, kArea + size, 9);
        const std::uint64_t id = pair.a.post(datagram(pair, options.connection, size));
        ASSERT_TRUE(pair.network.run_until_idle());
        EXPECT_THAT(pair.a.sent().back(), Succeeded(id));
        ASSERT_THAT(pair.b.received(), ElementsAre(Succeeded(9))) << pair.network.trace_text();
        const Completion& received = pair.b.received().front();
        EXPECT_EQ(received.byte_length, kArea + size);
        EXPECT_TRUE(received.has_network_header);
        EXPECT_TRUE(received.has_immediate);
        EXPECT_EQ(received.immediate, 0xABCDU);
        EXPECT_EQ(received.source_qp, pair.a.qpn());
        EXPECT_TRUE(std::ranges::equal(pair.b.memory(kArea, size), pair.a.memory(0, size)));
        const std::span<std::byte> area = pair.b.memory(0, kArea);
        if (version == RoceVersion::v2_ipv4) {
          EXPECT_EQ(read<Ipv4>(area.data() + 20).source, pair.a_host.gid(options.connection.path).ipv4());
        } else {
          EXPECT_EQ(read<Ipv6>(area.data()).source, pair.a_host.gid(options.connection.path));
        }
      }
    }
  }
}

TEST_P(DatagramScenario, AreDroppedWithAnotherQKey) {
  Pair::Options options = DatagramScenario::options();
  Pair pair{options};
  pair.b.post_receive(0, 100);
  Work work = datagram(pair, options.connection, 8);
  work.datagram.q_key = QKey{0x111};
  const std::uint64_t id = pair.a.post(work);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_THAT(pair.b.received(), IsEmpty());
  EXPECT_EQ(pair.b.device().counters().q_key_violations, 1U);
}

TEST_P(DatagramScenario, GoWithTheOwnQKeyWhenBit31IsSet) {
  Pair::Options options = DatagramScenario::options();
  Pair pair{options};
  pair.b.post_receive(0, 100);
  Work work = datagram(pair, options.connection, 8);
  work.datagram.q_key = QKey{0x80000000};
  pair.a.post(work);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), SizeIs(1));
}

TEST_P(DatagramScenario, AreLostWithoutAReceive) {
  Pair::Options options = DatagramScenario::options();
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post(datagram(pair, options.connection, 8));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.network.trace(), SizeIs(1));
  EXPECT_EQ(pair.a.sent().front().status, CompletionStatus::success);
  EXPECT_THAT(pair.b.received(), IsEmpty());
}

TEST_P(DatagramScenario, OfTwoQpsWithOneAddressHandleHaveThePortOfTheirOwnQp) {
  const Pair::Options options = DatagramScenario::options();
  Pair pair{options};
  Endpoint sibling{pair.a_host, {.type = QpType::ud, .pd = pair.a.pd()}};
  start(sibling);
  const Work work = datagram(pair, options.connection, 8);
  std::vector<std::byte> buffer(1U << 16U);
  std::array<transport::TxUnit, 16> units{};
  // A socket sends with the port that the unit names, and the ICRC has to be the one for it.
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 4; ++i) (i % 2 == 0 ? pair.a : sibling).post(work);
  std::size_t packets = 0;
  while (const std::size_t count =
             pair.a.device().transmit(buffer, units, {.link = transport::TxCaps::Link::transport}, {})) {
    for (const transport::TxUnit& unit : std::span{units}.first(count)) {
      const Packet packet = parse_transport(unit.bytes, *unit.net);
      EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
      EXPECT_EQ(unit.net->udp_source_port, transport::unconnected_source_port(packet.get<Deth>()->source_qp));
      ports.insert(unit.net->udp_source_port);
      ++packets;
    }
  }
  EXPECT_EQ(packets, 4U);
  EXPECT_THAT(ports, SizeIs(2));
}

/// Hosts around a switch, each with a UD QP.
struct Star {
  Star(const transport::Profile& profile, std::size_t count) {
    const NodeId bridge = network.add_switch();
    Host::Options options;
    options.profile = profile;
    for (std::size_t i = 0; i < count; ++i) {
      hosts.push_back(std::make_unique<Host>(network, options));
      network.connect(hosts.back()->node(), bridge);
      ends.push_back(std::make_unique<Endpoint>(*hosts.back(), Endpoint::Options{.type = QpType::ud}));
    }
    for (const auto& end : ends) start(*end);
  }

  SimNetwork network;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::unique_ptr<Endpoint>> ends;
};

TEST_P(DatagramScenario, ReachEveryMemberOfAMulticastGroup) {
  const Gid group = Gid::from_ipv4({{239, 1, 2, 3}});
  Star star{profile(), 4};
  Endpoint sibling{*star.hosts[1], {.type = QpType::ud}};
  start(sibling);
  for (const std::size_t member : {1U, 2U}) {
    must(star.ends[member]->device().attach_multicast(star.ends[member]->qpn(), group));
  }
  must(sibling.device().attach_multicast(sibling.qpn(), group));
  for (const auto& end : star.ends) end->post_receive(0, 100);
  sibling.post_receive(0, 100);
  Endpoint& sender = *star.ends[0];
  const auto ah = must(sender.device().create_ah(sender.pd(), {.sgid_index = 1, .dgid = group}));
  star.network.keep_trace(Tap::sent);
  const auto send = [&] {
    sender.post({.length = 16, .datagram = {.ah = ah, .qpn = Qpn{0xFFFFFF}, .q_key = kQKey}});
    ASSERT_TRUE(star.network.run_until_idle());
  };
  send();
  EXPECT_THAT(star.ends[0]->received(), IsEmpty());
  EXPECT_THAT(star.ends[1]->received(), SizeIs(1));
  EXPECT_THAT(star.ends[2]->received(), SizeIs(1));
  EXPECT_THAT(star.ends[3]->received(), IsEmpty()) << "not a member";
  EXPECT_THAT(sibling.received(), SizeIs(1)) << "each QP of a host gets a copy";
  const auto ethernet = read<Ethernet>(star.network.trace().front().bytes.data());
  EXPECT_EQ(ethernet.destination, (MacAddress{{0x01, 0x00, 0x5E, 1, 2, 3}}));

  must(star.ends[1]->device().detach_multicast(star.ends[1]->qpn(), group));
  star.ends[1]->post_receive(0, 100);
  star.ends[2]->post_receive(0, 100);
  send();
  EXPECT_THAT(star.ends[1]->received(), SizeIs(1));
  EXPECT_THAT(star.ends[2]->received(), SizeIs(2));
}

ROCE_UNDER_EACH_PROFILE(DatagramScenario);

}  // namespace
}  // namespace roce::sim
