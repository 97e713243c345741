// SPDX-License-Identifier: BSD-2-Clause
// PSNs that wrap at 2^24, and that the same seed gives the same bytes.
#include <gmock/gmock.h>

#include "mixed_exchange.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

class PsnScenario : public ScenarioTest {};

TEST_P(PsnScenario, TheExchangeEndsAlikeWhereverThePsnWraps) {
  Outcome expected;
  {
    Pair pair{mixed_options(profile())};
    ASSERT_TRUE(run_mixed(pair, expected));
  }
  // The exchange takes 20 PSNs from A: each of them is the last before the wrap in one round.
  for (std::uint32_t before = 0; before <= 20; ++before) {
    for (const char* fault : {"", "drop:dir=a_to_b,nth=7; drop:dir=b_to_a,nth=5"}) {
      Pair::Options options = mixed_options(profile());
      options.connection.a_psn = Psn{0xFFFFFF - before};
      options.connection.b_psn = Psn{0xFFFFFF - before / 2};
      options.link.impair = fault;
      Pair pair{options};
      pair.network.keep_trace(Tap::sent);
      Outcome outcome;
      ASSERT_TRUE(run_mixed(pair, outcome)) << "first PSN " << options.connection.a_psn.value() << ' ' << fault;
      ASSERT_TRUE(outcome == expected) << "first PSN " << options.connection.a_psn.value() << ' ' << fault << '\n'
                                       << pair.network.trace_text();
    }
  }
}

TEST_P(PsnScenario, TheSameSeedGivesTheSameBytes) {
  const auto run = [](std::uint64_t seed) {
    Pair::Options options = mixed_options(profile(), seed);
    options.link.impair = "drop:probability=0.1; duplicate:probability=0.05; reorder:by=2,probability=0.05";
    Pair pair{options};
    pair.network.keep_trace(Tap::received);
    Outcome outcome;
    EXPECT_TRUE(run_mixed(pair, outcome)) << "seed " << seed;
    std::vector<std::pair<Time, Frame>> frames;
    for (const TraceFrame& frame : pair.network.trace()) frames.emplace_back(frame.time, frame.bytes);
    return frames;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_TRUE(run(seed) == run(seed)) << "seed " << seed;
  EXPECT_FALSE(run(1) == run(2));
}

ROCE_UNDER_EACH_PROFILE(PsnScenario);

}  // namespace
}  // namespace roce::sim
