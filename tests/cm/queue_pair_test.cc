// SPDX-License-Identifier: BSD-2-Clause
// Connections that are made over QP1 of two devices in the simulated network, and carry data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "roce/cm/connection_manager.h"
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

constexpr QKey kManagementQKey{0x80010000};
constexpr Qpn kQp1{1};
constexpr std::uint32_t kGrhBytes = 40;
constexpr std::uint32_t kSlot = 512;
constexpr unsigned kSlots = 16;

/// A communication manager on QP1 of a host.
class Node {
 public:
  Node(const sim::Host& host, const sim::Host& other, std::uint64_t guid)
      : qp1_(host, {.type = QpType::gsi}),
        other_(other),
        manager_(ConnectionManager::make({.ca_guid = guid}, [guid]() mutable { return guid++; }).value()) {
    sim::start(qp1_);
    for (unsigned i = 0; i < kSlots; ++i) qp1_.post_receive(i * kSlot, kGrhBytes + kMadSize, i + 1);
  }

  /// Hands out what is to be sent and takes what came in; returns whether there was something.
  bool exchange(Time now) {
    bool is_busy = false;
    while (const auto message = manager_.poll_message()) {
      const std::uint64_t at = kSlots * kSlot + kSlot * (sends_++ % kSlots);
      std::ranges::copy(message->mad, qp1_.memory(at, kMadSize).begin());
      const transport::Ah ah = sim::address_of(qp1_, other_);
      qp1_.post({.length = kMadSize, .local = at, .datagram = {.ah = ah, .qpn = kQp1, .q_key = kManagementQKey}});
      is_busy = true;
    }
    auto& received = qp1_.received();
    for (; taken_ < received.size(); ++taken_) {
      const std::uint64_t at = (received[taken_].wr_id - 1) * kSlot;
      manager_.receive(qp1_.memory(at + kGrhBytes, kMadSize), {}, now);
      is_busy = true;
    }
    return is_busy;
  }

  ConnectionManager& manager() { return manager_; }

 private:
  Endpoint qp1_;
  const sim::Host& other_;
  ConnectionManager manager_;
  std::uint64_t sends_ = 0;
  std::size_t taken_ = 0;
};

/// As the sim's own connections address their peers.
transport::AddressVector towards(const Endpoint& peer) {
  return *sim::to_rtr({}, peer, Psn{0}, QpType::rc).address;
}

void make_ready(Endpoint& endpoint, const Agreement& agreement, QpType type, const transport::AddressVector& address) {
  const QpChanges changes = qp_changes(agreement, type, address, 12);
  endpoint.modify(changes.to_init);
  endpoint.modify(changes.to_rtr);
  endpoint.modify(changes.to_rts);
}

class CmQueuePairs : public ::testing::TestWithParam<QpType> {};

INSTANTIATE_TEST_SUITE_P(Types, CmQueuePairs, ::testing::Values(QpType::rc, QpType::uc),
                         [](const auto& which) { return which.param == QpType::rc ? "Rc" : "Uc"; });

TEST_P(CmQueuePairs, CarryDataBothWaysOnceConnected) {
  const QpType type = GetParam();
  Pair::Options options;
  options.a_endpoint.type = type;
  options.is_connected = false;
  Pair pair{options};
  Node a{pair.a_host, pair.b_host, 0xA000};
  Node b{pair.b_host, pair.a_host, 0xB000};
  const ServiceId service{PortSpace::tcp, 7174};
  ASSERT_TRUE(b.manager().listen(service));

  const std::vector<std::byte> data = rdma_ip_data();
  ConnectRequest request;
  request.service = service;
  request.transport = type == QpType::rc ? CmTransportService::rc : CmTransportService::uc;
  request.qpn = pair.a.qpn();
  request.starting_psn = Psn{0xFFFFFE};
  request.responder_resources = request.initiator_depth = 4;
  request.private_data = data;
  const CommId of_a = a.manager().connect(request, pair.network.now()).value();
  bool is_established = false;
  for (unsigned i = 0; i < 20 && !is_established; ++i) {
    a.exchange(pair.network.now());
    b.exchange(pair.network.now());
    while (const auto event = b.manager().poll_event()) {
      if (event->kind == EventKind::established) is_established = true;
      if (event->kind != EventKind::request) continue;
      Reply reply;
      reply.qpn = pair.b.qpn();
      reply.starting_psn = Psn{0x000123};
      reply.responder_resources = reply.initiator_depth = 4;
      ASSERT_TRUE(b.manager().accept(event->connection, reply, pair.network.now()));
      make_ready(pair.b, b.manager().find(event->connection)->agreement(), type, towards(pair.a));
    }
    while (const auto event = a.manager().poll_event()) {
      ASSERT_EQ(event->kind, EventKind::reply);
      make_ready(pair.a, a.manager().find(of_a)->agreement(), type, towards(pair.b));
      ASSERT_TRUE(a.manager().confirm(of_a, {}, pair.network.now()));
    }
    ASSERT_TRUE(pair.network.run_until_idle());
  }
  ASSERT_TRUE(is_established);

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
