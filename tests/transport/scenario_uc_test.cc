// SPDX-License-Identifier: BSD-2-Clause
// UC: a lost message is not sent again, and the next complete message arrives.
#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using transport::QpState;
using transport::WorkOpcode;

class UnreliableScenario : public ScenarioTest {
 protected:
  static Pair::Options options(const std::string& impair = {}) {
    Pair::Options options = Pair::with(profile());
    options.a_endpoint.type = transport::QpType::uc;
    options.link.impair = impair;
    return options;
  }
};

TEST_P(UnreliableScenario, EachLossCostsOneMessageOnly) {
  // Four messages of three packets: each packet of the first three messages is lost once.
  for (const WorkOpcode opcode : {WorkOpcode::send, WorkOpcode::write_with_immediate}) {
    for (int lost = 1; lost <= 9; ++lost) {
      SCOPED_TRACE(testing::Message() << "packet " << lost << " lost of " << to_string(opcode));
      Pair pair{options("drop:dir=a_to_b,nth=" + std::to_string(lost))};
      pair.network.keep_trace(Tap::sent);
      for (std::uint64_t i = 1; i <= 4; ++i) pair.b.post_receive(i * 4096, 4096, i);
      for (std::uint32_t i = 0; i < 4; ++i) pair.a.post({.opcode = opcode, .length = 2500, .immediate = i});
      ASSERT_TRUE(pair.network.run_until_idle());
      EXPECT_THAT(pair.a.sent(), SizeIs(4));
      EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(1), Succeeded(2), Succeeded(3)));
      EXPECT_THAT(pair.network.trace(), SizeIs(12)) << "nothing is answered or sent again";
    }
  }
}

TEST_P(UnreliableScenario, TellsThatItIsEstablished) {
  Pair::Options wanted = options();
  wanted.is_connected = false;
  Pair pair{wanted};
  const Connection& connection = wanted.connection;
  constexpr auto uc = transport::QpType::uc;
  for (Endpoint* endpoint : {&pair.a, &pair.b}) endpoint->modify(to_init(connection, uc));
  pair.a.modify(to_rtr(connection, pair.b, connection.b_psn, uc));
  pair.a.modify(to_rts(connection, connection.a_psn, uc));
  pair.b.modify(to_rtr(connection, pair.a, connection.a_psn, uc));
  pair.a.set_peer(pair.b);
  EXPECT_EQ(pair.b_host.count_events(transport::EventType::communication_established), 0U);
  for (int i = 0; i < 2; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b_host.count_events(transport::EventType::communication_established), 1U);
}

TEST_P(UnreliableScenario, APlainWriteThatWasInterruptedDoesNotDisturbTheNext) {
  Pair pair{options("drop:dir=a_to_b,nth=2")};
  pair.b.post_receive(0, 64, 7);
  pair.a.post({.opcode = WorkOpcode::write, .length = 2500});
  pair.a.post({.opcode = WorkOpcode::write, .length = 100, .remote = 8192});
  pair.a.post({.length = 20});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(7)));
  EXPECT_TRUE(std::ranges::equal(pair.a.memory(0, 100), pair.b.memory(8192, 100)));
}

TEST_P(UnreliableScenario, AWriteWithoutRightIsDroppedSilently) {
  Pair pair{options()};
  pair.network.keep_trace(Tap::sent);
  const std::vector<std::byte> before(pair.b.memory().begin(), pair.b.memory().end());
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 100, .r_key = RKey{0x4711}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_THAT(pair.network.trace(), SizeIs(1));
  EXPECT_TRUE(std::ranges::equal(pair.b.memory(), before));
  EXPECT_EQ(pair.b.state(), QpState::rts);
}

TEST_P(UnreliableScenario, ASendWithoutAReceiveIsLost) {
  Pair pair{options()};
  pair.a.post({.length = 100});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), IsEmpty());
  pair.b.post_receive(0, 100, 3);
  pair.a.post({.length = 100});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(3)));
}

ROCE_UNDER_EACH_PROFILE(UnreliableScenario);

}  // namespace
}  // namespace roce::sim
