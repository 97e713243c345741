// SPDX-License-Identifier: BSD-2-Clause
// Limits of the requests under way: PSNs, READs and atomics; and that each gap gets a NAK of its own.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "forger.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::SizeIs;
using transport::WorkOpcode;

class LimitScenario : public ScenarioTest {
 protected:
  static Pair::Options options() { return Pair::with(profile()); }
};

TEST_P(LimitScenario, NoMorePsnsAreInFlightThanTheWindowAndItsLastAsksForAnAck) {
  Pair::Options options = LimitScenario::options();
  options.a_host.profile.window = 8;
  options.link.delay = 50us;
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::write, .length = 100 * 1024});
  ASSERT_TRUE(pair.network.run_for(40us));
  ASSERT_THAT(pair.network.trace(), SizeIs(8));
  EXPECT_THAT(pair.network.trace().back(), HasAckReq(true));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(1)));
  EXPECT_EQ(pair.a.counters().timeouts, 0U);
}

TEST_P(LimitScenario, NoMoreReadsAndAtomicsAreOutstandingThanAgreed) {
  Pair::Options options = LimitScenario::options();
  options.link.delay = 50us;
  options.connection.rd_atomic = 3;
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  for (int i = 0; i < 8; ++i) {
    pair.a.post({.opcode = i % 2 == 0 ? WorkOpcode::read : WorkOpcode::fetch_add, .length = 8});
  }
  ASSERT_TRUE(pair.network.run_for(40us));
  EXPECT_THAT(pair.network.trace(), SizeIs(3)) << pair.network.trace_text();
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), SizeIs(8));
  EXPECT_EQ(pair.a.state(), transport::QpState::rts);
}

TEST_P(LimitScenario, OneReadMoreThanTheResponderTakesIsRefused) {
  Pair::Options options = LimitScenario::options();
  options.connection.rd_atomic = 4;
  Pair pair{options};
  const Forger forger{pair.a, pair.b};
  // No answer can leave, so all of them are pending.
  must(pair.b.device().set_paused(0, true));
  pair.network.keep_trace(Tap::sent);
  for (std::uint32_t i = 0; i < 5; ++i) {
    forger.send(Opcode::rc_read_request, 0x100 + i,
                {{"reth.va", forger.address(0)}, {"reth.r_key", forger.key()}, {"reth.dma_length", "8"}});
  }
  ASSERT_TRUE(pair.network.run_for(1ms));
  pair.network.clear_trace();
  must(pair.b.device().set_paused(0, false));
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_THAT(pair.network.trace(), SizeIs(5)) << pair.network.trace_text();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(pair.network.trace()[i], IsBth(Opcode::rc_read_response_only, 0x100 + i));
  }
  EXPECT_THAT(pair.network.trace()[4], HasSyndrome(AethSyndrome::nak(NakCode::invalid_request)));
  EXPECT_EQ(pair.b.state(), transport::QpState::err);
}

TEST_P(LimitScenario, EachGapHasItsNakAndNoneWaitsForTheTimer) {
  Pair::Options options = LimitScenario::options();
  options.link.impair =
      "drop:dir=a_to_b,op=write,psn=3,tx=1; drop:dir=a_to_b,op=write,psn=23,tx=1; "
      "drop:dir=a_to_b,op=write,psn=43,tx=1";
  Pair pair{options};
  for (std::uint64_t gaps = 1; gaps <= 3; ++gaps) {
    pair.a.post({.opcode = WorkOpcode::write, .length = 20 * 1024});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), SizeIs(gaps));
    EXPECT_EQ(pair.a.counters().sequence_naks_received, gaps);
    EXPECT_EQ(pair.a.counters().timeouts, 0U);
  }
}

TEST_P(LimitScenario, TheTimerRunsFromTheLastProgress) {
  Pair::Options options = LimitScenario::options();
  options.link.delay = 200us;      // something is always under way
  options.connection.timeout = 8;  // 1.05 ms
  options.connection.rate_limit_bps = 100'000'000;
  options.a_host.profile.min_timeout = Duration{0};
  options.a_host.profile.ack_request_interval = 4;
  Pair pair{options};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 100 * 1024});  // 8 ms
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_EQ(pair.a.counters().timeouts, 0U);
  EXPECT_EQ(pair.a.counters().retransmitted_packets, 0U);
}

ROCE_UNDER_EACH_PROFILE(LimitScenario);

}  // namespace
}  // namespace roce::sim
