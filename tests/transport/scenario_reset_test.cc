// SPDX-License-Identifier: BSD-2-Clause
// A QP that was in RESET is as good as a new one: whatever happened to it before, nothing of it can be seen.
#include <gmock/gmock.h>

#include "forger.h"
#include "mixed_exchange.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using enum Opcode;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

class ResetScenario : public ScenarioTest {
 protected:
  static Pair::Options options(QpType type = QpType::rc) {
    Pair::Options options = mixed_options(profile());
    options.a_endpoint.type = type;
    return options;
  }
  static void reset(Pair& pair) {
    for (Endpoint* endpoint : {&pair.a, &pair.b}) endpoint->modify({.state = QpState::reset});
  }
};

/// Returns the frames that a connection and an exchange of every operation put on the wire, and what came of it.
std::pair<std::vector<Frame>, Outcome> exchange(Pair& pair) {
  pair.a.clear_completions();
  pair.b.clear_completions();
  pair.network.clear_trace();
  pair.network.keep_trace(Tap::sent);
  connect(pair.a, pair.b);
  Outcome outcome;
  EXPECT_TRUE(run_mixed(pair, outcome));
  std::vector<Frame> frames;
  for (const TraceFrame& frame : pair.network.trace()) frames.push_back(frame.bytes);
  return {frames, outcome};
}

/// Leaves both QPs in the middle of as many things as possible.
void entangle(Pair& pair) {
  connect(pair.a, pair.b, {.mtu = 256, .a_psn = Psn{0xFFFFF0}, .b_psn = Psn{7}, .rate_limit_bps = 1'000'000'000});
  Outcome outcome;
  EXPECT_TRUE(run_mixed(pair, outcome));
  // B has an open WRITE, and has reported a gap behind it; its READ and its SEND wait for answers that do not come.
  const Forger forger{pair.a, pair.b};
  const std::uint32_t next = must(pair.b.device().query_qp(pair.b.qpn())).rq_psn.value();
  forger.send(rc_write_first, next,
              {{"reth.va", forger.address(0)},
               {"reth.r_key", forger.key()},
               {"reth.dma_length", "512"},
               {"payload_length", "256"}});
  forger.send(rc_write_last, next + 2, {{"payload_length", "256"}});
  pair.b.post_receive(0, 64);
  pair.b.post({.opcode = WorkOpcode::read, .length = 1000});
  pair.b.post({.length = 300});
  EXPECT_TRUE(pair.network.run_until([&] { return pair.b.counters().out_of_sequence != 0; }, "a gap"));
  // A has a request under way that goes again, and a receive.
  pair.a.post({.opcode = WorkOpcode::read, .length = 1000});
  pair.a.post({.opcode = WorkOpcode::fetch_add, .length = 8});
  pair.a.post_receive(0, 64);
}

TEST_P(ResetScenario, TheQpSendsWhatANewOneSends) {
  Pair::Options options = ResetScenario::options();
  options.is_connected = false;
  Pair used{options};
  entangle(used);
  reset(used);
  ASSERT_TRUE(used.network.run_until_idle());
  Pair unused{options};
  for (Endpoint Pair::*side : {&Pair::a, &Pair::b}) {
    std::ranges::copy((unused.*side).memory(), (used.*side).memory().begin());
  }
  const auto [expected_frames, expected] = exchange(unused);
  const auto [frames, outcome] = exchange(used);
  ASSERT_EQ(frames.size(), expected_frames.size()) << used.network.trace_text();
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i], expected_frames[i]) << "frame " << i;
  EXPECT_TRUE(outcome.a_memory == expected.a_memory && outcome.b_memory == expected.b_memory);
  EXPECT_EQ(outcome.a_received.size(), expected.a_received.size());
  EXPECT_EQ(outcome.b_received.size(), expected.b_received.size());
}

TEST_P(ResetScenario, NothingOfTheConnectionIsLeftInTheAttributes) {
  for (const QpType type : {QpType::rc, QpType::uc, QpType::ud}) {
    Pair::Options options = ResetScenario::options(type);
    options.is_connected = false;
    const Pair unused{options};
    const Endpoint& a = unused.a;
    Pair used{options};
    if (type == QpType::rc) {
      entangle(used);
    } else {
      connect(used.a, used.b, {.traffic_class = 0x20, .rate_limit_bps = 1'000'000});
      used.a.post_receive(0, 64);
    }
    reset(used);
    EXPECT_EQ(must(used.a.device().query_qp(used.a.qpn())), must(a.device().query_qp(a.qpn())));
    EXPECT_EQ(must(used.a.device().memory_of(used.a.qpn())), must(a.device().memory_of(a.qpn())));
    EXPECT_FALSE(used.a.device().has_output());
  }
}

TEST_P(ResetScenario, ARateLimitEndsWithItsConnection) {
  Pair::Options options = ResetScenario::options();
  options.connection.rate_limit_bps = 1'000'000;
  Pair pair{options};
  reset(pair);
  connect(pair.a, pair.b);
  // A second limit must not bring the first one back.
  pair.a.modify({.state = QpState::rts, .rate_limit_pps = 1'000'000});
  const Time start = pair.network.now();
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 8000});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), testing::ElementsAre(Succeeded(id)));
  EXPECT_LT(pair.network.now() - start, 20ms) << "8000 bytes take 64 ms at 1 Mbit/s";
}

TEST_P(ResetScenario, CountersAndTheHookStay) {
  class DropAll : public transport::MisbehaviourHook {
   public:
    transport::TxVerdict on_transmit(std::span<std::byte> /*packet*/, Time /*now*/) override {
      return {.fate = transport::TxVerdict::Fate::drop};
    }
  } hook;
  Pair pair{options()};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), testing::ElementsAre(Succeeded(id)));
  must(pair.a.device().set_hook(pair.a.qpn(), &hook));
  const std::uint64_t sent = pair.a.counters().sent_packets;
  reset(pair);
  EXPECT_EQ(pair.a.counters().sent_packets, sent);
  connect(pair.a, pair.b, {.timeout = 0});
  pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(pair.b.counters().write_requests, 1U);
}

ROCE_UNDER_EACH_PROFILE(ResetScenario);

}  // namespace
}  // namespace roce::sim
