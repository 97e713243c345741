// SPDX-License-Identifier: BSD-2-Clause
// Unsolicited answers, datagrams that are too long, and the first packet of all.
#include <gmock/gmock.h>

#include "forger.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using transport::CompletionStatus;
using transport::EventType;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

constexpr std::uint32_t kPsn = 0x100;
constexpr Duration kMoment = std::chrono::microseconds{200};

class StrayScenario : public ScenarioTest {};

/// Stops or restarts B's output: while it is stopped, everything that A receives is forged.
void silence(const Pair& pair, bool silent) {
  for (std::uint8_t priority = 0; priority < 8; ++priority) must(pair.b.device().set_paused(priority, silent));
}

TEST_P(StrayScenario, AnAckOutsideTheWindowCompletesNothing) {
  Pair pair{Pair::with(profile())};
  const Forger forger{pair.b, pair.a};
  silence(pair, true);
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_for(kMoment));
  forger.send(Opcode::rc_acknowledge, kPsn + 1, {{"aeth.syndrome", "0x1f"}});
  forger.send(Opcode::rc_acknowledge, kPsn - 2, {{"aeth.syndrome", "0x1f"}});
  ASSERT_TRUE(pair.network.run_for(kMoment));
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  EXPECT_EQ(pair.a.counters().ghost_acks, 2U);
  silence(pair, false);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
}

TEST_P(StrayScenario, AReservedSyndromeChangesNothing) {
  Pair pair{Pair::with(profile())};
  const Forger forger{pair.b, pair.a};
  silence(pair, true);
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_for(kMoment));
  forger.send(Opcode::rc_acknowledge, kPsn, {{"aeth.syndrome", "0x40"}});
  ASSERT_TRUE(pair.network.run_for(kMoment));
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  EXPECT_EQ(pair.a.state(), QpState::rts);
  silence(pair, false);
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
}

TEST_P(StrayScenario, ADatagramLongerThanThePortMtuIsNotSent) {
  Pair::Options options = Pair::with(profile());
  options.a_endpoint.type = QpType::ud;
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.b.post_receive(0, 8192);
  const std::uint64_t id = pair.a.post(
      {.length = 4097, .datagram = {.ah = address_of(pair.a, pair.b_host), .qpn = pair.b.qpn(), .q_key = kQKey}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.network.trace(), IsEmpty());
  EXPECT_THAT(pair.b.received(), IsEmpty());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, profile().oversize_datagram_status)));
  // If that is an error, the QP sends nothing more until it is moved to RTS.
  const bool is_error = profile().oversize_datagram_status != CompletionStatus::success;
  EXPECT_EQ(pair.a.state(), is_error ? QpState::sqe : QpState::rts);
  if (!is_error) return;
  pair.a.modify({.state = QpState::rts, .current_state = QpState::sqe});
  const std::uint64_t next = pair.a.post(
      {.length = 4096, .datagram = {.ah = address_of(pair.a, pair.b_host), .qpn = pair.b.qpn(), .q_key = kQKey}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent().back(), Succeeded(next));
  EXPECT_EQ(pair.b.received().size(), 1U);
}

TEST_P(StrayScenario, TheFirstPacketInRtrTellsThatThePeerIsThere) {
  Pair::Options options = Pair::with(profile());
  options.is_connected = false;
  Pair pair{options};
  const Connection& connection = options.connection;
  for (Endpoint* endpoint : {&pair.a, &pair.b}) endpoint->modify(to_init(connection, QpType::rc));
  pair.a.modify(to_rtr(connection, pair.b, connection.b_psn, QpType::rc));
  pair.a.modify(to_rts(connection, connection.a_psn, QpType::rc));
  pair.b.modify(to_rtr(connection, pair.a, connection.a_psn, QpType::rc));
  pair.a.set_peer(pair.b);
  EXPECT_EQ(pair.b_host.count_events(EventType::communication_established), 0U);
  for (int i = 0; i < 2; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b_host.count_events(EventType::communication_established), 1U);
  EXPECT_EQ(pair.a.sent().size(), 2U);
}

TEST_P(StrayScenario, AnAddressOfTheOtherFamilyIsRefused) {
  Pair::Options options = Pair::with(profile());
  options.is_connected = false;
  Pair pair{options};
  const Gid v4 = pair.b_host.gid({RoceVersion::v2_ipv4, false});
  const std::uint16_t v6_index = Host::gid_index({RoceVersion::v2_ipv6, false});
  const auto refused = pair.a.device().create_ah(pair.a.pd(), {.sgid_index = v6_index, .dgid = v4});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().subject, "address.dgid");
}

ROCE_UNDER_EACH_PROFILE(StrayScenario);

}  // namespace
}  // namespace roce::sim
