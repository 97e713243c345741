// SPDX-License-Identifier: BSD-2-Clause
// One fault at a time, on each packet of an exchange of all operations: the result is the same as without the fault.
#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "mixed_exchange.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using impair::Rule;
using transport::CompletionStatus;

/// A packet of the undisturbed exchange.
struct Victim {
  impair::Direction direction{};
  Opcode opcode{};
  Psn psn{};

  [[nodiscard]] auto key() const { return std::tuple{direction, opcode, psn.value()}; }
  friend bool operator<(const Victim& a, const Victim& b) { return a.key() < b.key(); }
};

class FaultScenario : public ScenarioTest {
 protected:
  void SetUp() override {
    Pair pair{mixed_options(profile())};
    pair.network.keep_trace(Tap::sent);
    ASSERT_TRUE(run_mixed(pair, undisturbed_));
    for (const auto* completions : {&undisturbed_.a_sent, &undisturbed_.b_sent, &undisturbed_.b_received}) {
      for (const transport::Completion& completion : *completions) {
        ASSERT_EQ(completion.status, CompletionStatus::success) << pair.network.trace_text();
      }
    }
    ASSERT_EQ(undisturbed_.a_sent.size(), 9U);
    ASSERT_EQ(undisturbed_.b_sent.size(), 5U);
    ASSERT_EQ(undisturbed_.a_received.size(), 2U);
    ASSERT_EQ(undisturbed_.b_received.size(), 4U);
    for (const TraceFrame& frame : pair.network.trace()) {
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      const bool from_a = frame.from == pair.a_host.node();
      victims_.insert(
          {from_a ? impair::Direction::a_to_b : impair::Direction::b_to_a, packet.opcode(), packet.bth().psn});
    }
    ASSERT_GE(victims_.size(), 25U);
  }

  /// Runs the exchange with the fault on each packet in turn; `transmissions` of that packet are hit.
  void expect_no_harm(const impair::Action& action, std::uint32_t transmissions) {
    for (const Victim& victim : victims_) {
      Rule rule{.name = "victim", .action = action};
      rule.match.direction = victim.direction;
      rule.match.opcodes = {{.opcode = victim.opcode}};
      rule.match.absolute_psn = {victim.psn, victim.psn};
      rule.match.transmission = impair::Range<std::uint32_t>{1, transmissions};
      Pair::Options options = mixed_options(profile());
      options.link.rules = impair::RuleSet::from_rules({rule}).value();
      Pair pair{options};
      pair.network.keep_trace(Tap::impaired);
      Outcome outcome;
      SCOPED_TRACE(to_text(rule));
      const testing::AssertionResult finished = run_mixed(pair, outcome);
      ASSERT_TRUE(finished) << pair.network.trace_text();
      impair::Engine& engine = *pair.network.engine(pair.a_host.node(), pair.b_host.node());
      EXPECT_TRUE(engine.poll_log().has_value()) << "the rule met nothing";
      EXPECT_THAT(outcome.a_sent, testing::ElementsAreArray(undisturbed_.a_sent)) << pair.network.trace_text();
      EXPECT_THAT(outcome.b_sent, testing::ElementsAreArray(undisturbed_.b_sent)) << pair.network.trace_text();
      EXPECT_THAT(outcome.a_received, testing::ElementsAreArray(undisturbed_.a_received));
      EXPECT_THAT(outcome.b_received, testing::ElementsAreArray(undisturbed_.b_received));
      EXPECT_TRUE(outcome.a_memory == undisturbed_.a_memory) << "the memories of A differ";
      EXPECT_TRUE(outcome.b_memory == undisturbed_.b_memory) << "the memories of B differ";
      if (HasFailure()) return;
    }
  }

  Outcome undisturbed_;
  std::set<Victim> victims_;
};

TEST_P(FaultScenario, LossOfEachPacket) {
  expect_no_harm(impair::Drop{}, 1);
}

TEST_P(FaultScenario, LossOfEachPacketAndOfItsRetransmission) {
  expect_no_harm(impair::Drop{}, 2);
}

TEST_P(FaultScenario, DuplicateOfEachPacket) {
  expect_no_harm(impair::Duplicate{.copies = 1}, 1);
  expect_no_harm(impair::Duplicate{.copies = 3}, 2);
}

TEST_P(FaultScenario, EachPacketBehindTheNext) {
  expect_no_harm(impair::Reorder{.by = 1}, 1);
}

TEST_P(FaultScenario, EachPacketFarBehind) {
  expect_no_harm(impair::Reorder{.by = 7}, 2);
}

TEST_P(FaultScenario, EachPacketLaterThanTheTimeout) {
  expect_no_harm(impair::Delay{.by = std::chrono::milliseconds{100}}, 1);
}

TEST_P(FaultScenario, CorruptionOfEachPacket) {
  expect_no_harm(impair::Corrupt{.bit = {}, .bits = 1}, 1);
  expect_no_harm(impair::Corrupt{.bit = {}, .bits = 5}, 2);
}

ROCE_UNDER_EACH_PROFILE(FaultScenario);

}  // namespace
}  // namespace roce::sim
