// SPDX-License-Identifier: BSD-2-Clause
// Datagrams to QP1 that are not messages of the communication manager, and messages that QP1 cannot send.
#include "roce/cm/gsi_agent.h"

#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

using sim::Endpoint;
using transport::QpType;

constexpr Qpn kQp1{1};
constexpr QKey kQKey{0x80010000};

/// An agent, and a UD QP of another host whose Q_Key lets it write to QP1.
class GsiAgentInput : public ::testing::Test {
 protected:
  GsiAgentInput() : stranger_(other_, {.type = QpType::ud}) {
    network_.connect(host_.node(), other_.node());
    sim::start(stranger_);
    agent_ = GsiAgent::make(
                 host_.device(), {.ca_guid = 1}, [] { return std::uint64_t{7}; }, Time{})
                 .value();
    // A request whose Q_Key has its highest bit set is sent with the Q_Key of the QP.
    stranger_.modify({.state = transport::QpState::rts, .q_key = kQKey});
  }

  void send(std::uint32_t bytes) {
    const transport::Ah ah = sim::address_of(stranger_, host_);
    stranger_.post({.length = bytes, .datagram = {.ah = ah, .qpn = kQp1, .q_key = kQKey}});
    ASSERT_TRUE(network_.run_until_idle());
    agent_->step(network_.now());
  }

  sim::SimNetwork network_;
  sim::Host host_{network_};
  sim::Host other_{network_};
  Endpoint stranger_;
  std::unique_ptr<GsiAgent> agent_;
};

TEST_F(GsiAgentInput, CountsDatagramsThatAreNoMad) {
  send(1);
  send(255);
  EXPECT_EQ(agent_->counters().unreadable, 2U);
  EXPECT_EQ(agent_->manager().counters().received, 0U);
}

TEST_F(GsiAgentInput, LeavesItToTheManagerWhatAMadMeans) {
  send(256);
  EXPECT_EQ(agent_->counters().unreadable, 0U);
  EXPECT_EQ(agent_->manager().counters().of(Ignored::not_cm), 1U);
}

TEST_F(GsiAgentInput, GoesOnAfterMoreThanItHasReceivesFor) {
  for (unsigned i = 0; i < 1000; ++i) send(256);
  EXPECT_EQ(agent_->manager().counters().of(Ignored::not_cm), 1000U) << "each is taken before the next";
}

TEST_F(GsiAgentInput, CountsMessagesFromAnAddressThatItDoesNotHave) {
  const std::vector<std::byte> data = rdma_ip_data();
  ConnectRequest request;
  request.peer = {.local = Gid::from_ipv4({{203, 0, 113, 1}}), .remote = other_.gid()};
  request.service = ServiceId{PortSpace::tcp, 7174};
  request.qpn = Qpn{0x11};
  request.private_data = data;
  ASSERT_TRUE(agent_->manager().connect(request, network_.now()));
  agent_->step(network_.now());
  ASSERT_TRUE(network_.run_until_idle());
  EXPECT_EQ(agent_->counters().unsendable, 1U);
  EXPECT_EQ(host_.device().counters().sent_packets, 0U);
}

TEST_F(GsiAgentInput, IsTheOnlyOneAtQp1) {
  const auto second = GsiAgent::make(
      host_.device(), {.ca_guid = 1}, [] { return std::uint64_t{7}; }, Time{});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, transport::VerbErrorCode::in_use);
  agent_.reset();
  EXPECT_TRUE(GsiAgent::make(
      host_.device(), {.ca_guid = 1}, [] { return std::uint64_t{7}; }, Time{}))
      << "all of the first is gone";
}

TEST(GuidOfAMac, IsItsEui64) {
  EXPECT_EQ(guid_of(MacAddress{{0x02, 0x11, 0x22, 0x33, 0x44, 0x55}}), 0x0011'22FF'FE33'4455U);
}

}  // namespace
}  // namespace roce::cm::test
