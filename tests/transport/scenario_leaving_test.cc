// SPDX-License-Identifier: BSD-2-Clause
// A QP that goes away before it has answered: its peer is told of what was executed, and does not ask in vain.
#include <gmock/gmock.h>

#include <functional>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using transport::CompletionStatus;
using transport::QpState;
using transport::WorkOpcode;

class LeavingScenario : public ScenarioTest {
 protected:
  static Pair::Options options() { return Pair::with(profile()); }

  /// The ways in which a QP can leave its connection.
  static std::vector<std::pair<std::string, std::function<void(Endpoint&)>>> ways() {
    return {{"to ERR", [](Endpoint& endpoint) { endpoint.fail(); }},
            {"to RESET", [](Endpoint& endpoint) { endpoint.modify({.state = QpState::reset}); }},
            {"destroyed", [](Endpoint& endpoint) { must(endpoint.device().destroy_qp(endpoint.qpn())); }}};
  }
  static void pause(Endpoint& endpoint, bool paused) { must(endpoint.device().set_paused(0, paused)); }
};

TEST_P(LeavingScenario, AMessageIsAcknowledgedThoughItsReceiverLeavesAtOnce) {
  for (const auto& [way, leave] : ways()) {
    SCOPED_TRACE(way);
    Pair pair{options()};
    pair.b.post_receive(0, 64);
    const std::uint64_t id = pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until([&] { return !pair.b.received().empty(); }, "the message"));
    leave(pair.b);
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    EXPECT_EQ(pair.a.counters().timeouts, 0U);
  }
}

TEST_P(LeavingScenario, ItsAnswersWaitForAPausedClass) {
  for (const auto& [way, leave] : ways()) {
    SCOPED_TRACE(way);
    Pair pair{options()};
    pause(pair.b, true);
    pair.b.post_receive(0, 64);
    const std::uint64_t id = pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until([&] { return !pair.b.received().empty(); }, "the message"));
    leave(pair.b);
    ASSERT_TRUE(pair.network.run_for(std::chrono::milliseconds{1}));
    EXPECT_THAT(pair.a.sent(), testing::IsEmpty());
    EXPECT_FALSE(pair.b.device().has_output());
    pause(pair.b, false);
    EXPECT_TRUE(pair.b.device().has_output());
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    EXPECT_FALSE(pair.b.device().has_output());
  }
}

TEST_P(LeavingScenario, AllThatWasExecutedIsAnsweredUpToTheFirstReadOfData) {
  for (const auto& [way, leave] : ways()) {
    SCOPED_TRACE(way);
    Pair::Options with_patience = options();
    with_patience.connection.retry_count = 1;
    Pair pair{with_patience};
    pause(pair.b, true);
    pair.b.post_receive(0, 64);
    const std::uint64_t send = pair.a.post({.length = 8});
    const std::uint64_t atomic = pair.a.post({.opcode = WorkOpcode::fetch_add, .length = 8});
    const std::uint64_t flush = pair.a.post({.opcode = WorkOpcode::flush, .flush = {.length = 8}});
    const std::uint64_t read = pair.a.post({.opcode = WorkOpcode::read, .length = 8});
    const std::uint64_t write = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
    ASSERT_TRUE(pair.network.run_until([&] { return pair.b.counters().write_requests != 0; }, "the last request"));
    leave(pair.b);
    pause(pair.b, false);
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(),
                ElementsAre(Succeeded(send), Succeeded(atomic), Succeeded(flush),
                            Ended(read, CompletionStatus::retry_exceeded), Ended(write, CompletionStatus::flushed)));
  }
}

TEST_P(LeavingScenario, NothingIsSentThatWasSentBefore) {
  for (const auto& [way, leave] : ways()) {
    SCOPED_TRACE(way);
    Pair pair{options()};
    pair.b.post_receive(0, 64);
    pair.a.post({.length = 8});
    ASSERT_TRUE(pair.network.run_until_idle());
    leave(pair.b);
    EXPECT_FALSE(pair.b.device().has_output());
  }
}

TEST_P(LeavingScenario, TheAnswersOfTheLastConnectionGoToItsPeer) {
  Pair pair{options()};
  pause(pair.b, true);
  pair.b.post_receive(0, 64);
  const std::uint64_t id = pair.a.post({.length = 8});
  ASSERT_TRUE(pair.network.run_until([&] { return !pair.b.received().empty(); }, "the message"));
  pair.b.modify({.state = QpState::reset});
  Endpoint other{pair.a_host};
  connect(other, pair.b, {.a_psn = Psn{5}, .b_psn = Psn{6}});
  pause(pair.b, false);
  const std::uint64_t of_other = other.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_THAT(other.sent(), ElementsAre(Succeeded(of_other)));
  EXPECT_EQ(pair.a.counters().timeouts, 0U);
}

ROCE_UNDER_EACH_PROFILE(LeavingScenario);

}  // namespace
}  // namespace roce::sim
