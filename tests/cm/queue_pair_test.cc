// SPDX-License-Identifier: BSD-2-Clause
// Connections that are made over QP1 of two devices in the simulated network, and carry data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "roce/cm/gsi_agent.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

using sim::Endpoint;
using sim::Pair;
using sim::Succeeded;
using ::testing::ElementsAre;
using transport::QpType;
using transport::WorkOpcode;

/// The type of the QPs that are connected, and the RoCE version that QP1 and they use.
struct Kind {
  QpType type;
  RoceVersion version;
};

std::string name_of(const Kind& kind) {
  return std::string{kind.type == QpType::rc ? "Rc" : "Uc"} + (kind.version == RoceVersion::v1        ? "V1"
                                                               : kind.version == RoceVersion::v2_ipv4 ? "V2Ipv4"
                                                                                                      : "V2Ipv6");
}

/// Returns the agent at QP1 of a host.
std::unique_ptr<GsiAgent> agent_of(const sim::Host& host, std::uint64_t guid, RoceVersion version) {
  const auto mode = version == RoceVersion::v1 ? transport::GidType::roce_v1 : transport::GidType::roce_v2;
  return GsiAgent::make(
             host.device(), {.ca_guid = guid}, [guid]() mutable { return guid++; }, Time{}, mode)
      .value();
}

/// Returns the address of a peer as the simulation's own connections have it.
transport::AddressVector towards(const Endpoint& peer, RoceVersion version) {
  return *sim::to_rtr({.path = {.version = version}}, peer, Psn{0}, QpType::rc).address;
}

void make_ready(Endpoint& endpoint, const Agreement& agreement, QpType type, const transport::AddressVector& address) {
  const QpChanges changes = qp_changes(agreement, type, address, 12);
  endpoint.modify(changes.to_init);
  endpoint.modify(changes.to_rtr);
  endpoint.modify(changes.to_rts);
}

class CmQueuePairs : public ::testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, CmQueuePairs,
                         ::testing::Values(Kind{QpType::rc, RoceVersion::v2_ipv4},
                                           Kind{QpType::rc, RoceVersion::v2_ipv6}, Kind{QpType::rc, RoceVersion::v1},
                                           Kind{QpType::uc, RoceVersion::v2_ipv4}),
                         [](const auto& which) { return name_of(which.param); });

TEST_P(CmQueuePairs, CarryDataBothWaysOnceConnected) {
  const auto [type, version] = GetParam();
  Pair::Options options;
  options.a_endpoint.type = type;
  options.is_connected = false;
  Pair pair{options};
  pair.network.keep_trace(sim::Tap::sent);
  const auto a = agent_of(pair.a_host, 0xA000, version);
  const auto b = agent_of(pair.b_host, 0xB000, version);
  const ServiceId service{PortSpace::tcp, 7174};
  ASSERT_TRUE(b->manager().listen(service));

  const std::vector<std::byte> data = rdma_ip_data();
  ConnectRequest request;
  request.peer = {.local = pair.a_host.gid({.version = version}), .remote = pair.b_host.gid({.version = version})};
  request.service = service;
  request.transport = type == QpType::rc ? CmTransportService::rc : CmTransportService::uc;
  request.qpn = pair.a.qpn();
  request.starting_psn = Psn{0xFFFFFE};
  request.responder_resources = request.initiator_depth = 4;
  request.private_data = data;
  const CommId of_a = a->manager().connect(request, pair.network.now()).value();
  bool is_established = false;
  for (unsigned i = 0; i < 20 && !is_established; ++i) {
    a->step(pair.network.now());
    b->step(pair.network.now());
    while (const auto event = b->manager().poll_event()) {
      if (event->kind == EventKind::established) is_established = true;
      if (event->kind != EventKind::request) continue;
      Reply reply;
      reply.qpn = pair.b.qpn();
      reply.starting_psn = Psn{0x000123};
      reply.responder_resources = reply.initiator_depth = 4;
      ASSERT_TRUE(b->manager().accept(event->connection, reply, pair.network.now()));
      make_ready(pair.b, b->manager().find(event->connection)->agreement(), type, towards(pair.a, version));
    }
    while (const auto event = a->manager().poll_event()) {
      ASSERT_EQ(event->kind, EventKind::reply);
      make_ready(pair.a, a->manager().find(of_a)->agreement(), type, towards(pair.b, version));
      ASSERT_TRUE(a->manager().confirm(of_a, {}, pair.network.now()));
    }
    ASSERT_TRUE(pair.network.run_until_idle());
  }
  ASSERT_TRUE(is_established);
  EXPECT_GE(pair.network.trace().size(), 3U);
  for (const sim::TraceFrame& frame : pair.network.trace()) {
    EXPECT_EQ(parse_frame(frame.bytes, LinkType::ethernet).version(), version);
  }

  pair.a.set_peer(pair.b);
  pair.b.set_peer(pair.a);
  for (auto* const ends : {&pair.a, &pair.b}) ends->post_receive(0, 5000, 7);
  std::ranges::fill(pair.a.memory(8192, 5000), std::byte{0xA5});
  std::ranges::fill(pair.b.memory(8192, 5000), std::byte{0x5A});
  const std::uint64_t from_a = pair.a.post({.length = 5000, .local = 8192});
  const std::uint64_t from_b = pair.b.post({.length = 5000, .local = 8192});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(from_a)));
  EXPECT_THAT(pair.b.sent(), ElementsAre(Succeeded(from_b)));
  EXPECT_THAT(pair.a.received(), ElementsAre(Succeeded(7)));
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(7)));
  EXPECT_EQ(pair.b.memory(0, 5000)[4999], std::byte{0xA5});
  EXPECT_EQ(pair.a.memory(0, 5000)[4999], std::byte{0x5A});
  EXPECT_EQ(pair.a.counters().retransmitted_packets + pair.b.counters().retransmitted_packets, 0U)
      << "each began with the PSN that the other expects";
  if (type != QpType::rc) return;
  const std::uint64_t read = pair.a.post({.opcode = WorkOpcode::read, .length = 100, .local = 0, .remote = 8192});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.a.sent().back().wr_id, read);
  EXPECT_EQ(pair.a.memory(0, 100)[99], std::byte{0x5A}) << "there are resources for READs";
}

}  // namespace
}  // namespace roce::cm::test
