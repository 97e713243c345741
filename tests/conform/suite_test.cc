// SPDX-License-Identifier: BSD-2-Clause
// A device that dies during a run, and one that is brought back.
#include "conform/run/suite.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "conform/language/read_case.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kSeed = 1;

/// Our own endpoint, which dies when a frame is sent to it and `is_death` says so, and stays dead until it is
/// recovered.
class MortalTarget final : public MemoryTarget {
 public:
  MortalTarget(std::uint64_t seed, bool& is_dead, const std::function<bool()>& is_death)
      : MemoryTarget(transport::strict_profile(), seed), is_dead_(is_dead), is_death_(is_death) {}

  void send(std::span<const std::byte> frame) override {
    is_dead_ = is_dead_ || is_death_();
    if (is_dead_) throw DeviceGone("the agent is gone");
    MemoryTarget::send(frame);
  }

 private:
  bool& is_dead_;
  const std::function<bool()>& is_death_;
};

/// Ten instances of one case, and a device that dies in some of them.
class Deaths : public testing::Test {
 protected:
  /// Runs all; instance `n` kills the device in so many of its first runs as `kills[n]` says.
  std::vector<std::string> run(std::map<std::string, int> kills, bool has_recovery = true) {
    const CaseResult<Case> one = read_case(
        "psn-x.yaml", "case: psn-x\ntitle: A\nrule: [R]\nlevel: must\nparams: {n: 0..9}\nsteps: [{probe: }]\n");
    const std::vector<Instance> instances = expand(one.value()).value();
    SuiteOptions options{.seed = kSeed};
    if (has_recovery) options.recover = [&](const Death& death) { return recover(death); };
    const TargetFactory make_target = [&](std::uint64_t seed) -> std::unique_ptr<Target> {
      const auto now = std::ranges::find(instances, seed, [](const Instance& each) { return each.seed(kSeed); });
      int& left = kills[now->parameters[0].second.text];
      is_death_ = [&left] { return left > 0 && left-- > 0; };
      return std::make_unique<MortalTarget>(seed, is_dead_, is_death_);
    };
    outcomes_ = run_suite(instances, {make_target}, options, [this](std::size_t) { ++settled_; });
    std::vector<std::string> results;
    for (const CaseOutcome& outcome : outcomes_) results.emplace_back(to_string(outcome.result));
    return results;
  }

  TargetResult<void> recover(const Death& death) {
    deaths_.push_back(death);
    if (!can_recover_) return tl::unexpected(std::string{"no power"});
    is_dead_ = false;
    return {};
  }

  std::vector<CaseOutcome> outcomes_;
  std::vector<Death> deaths_;
  std::size_t settled_ = 0;
  bool can_recover_ = true;

 private:
  bool is_dead_ = false;
  std::function<bool()> is_death_;
};

TEST_F(Deaths, EndARunWithoutRecovery) {
  EXPECT_THAT(run({{"2", 1}}, false), ElementsAre("pass", "pass", "dead", "not_run", "not_run", "not_run", "not_run",
                                                  "not_run", "not_run", "not_run"));
  EXPECT_EQ(outcomes_[2].damage, Damage::agent_gone);
  EXPECT_EQ(settled_, 3U);
}

TEST_F(Deaths, ThatDoNotHappenAgainLeaveAPassThatIsNamed) {
  EXPECT_THAT(run({{"2", 1}}), testing::Each("pass"));
  ASSERT_EQ(deaths_.size(), 1U);
  EXPECT_THAT(deaths_[0].instances, ElementsAre("psn-x[n=2]"));
  EXPECT_EQ(deaths_[0].damage, Damage::agent_gone);
  ASSERT_EQ(outcomes_[2].tries.size(), 2U);
  EXPECT_EQ(outcomes_[2].tries[0].result, Result::dead);
  EXPECT_THAT(outcomes_[3].tries, IsEmpty());
}

TEST_F(Deaths, ThatHappenAgainAreChargedToTheInstance) {
  EXPECT_THAT(run({{"2", 2}, {"7", 2}}),
              ElementsAre("pass", "pass", "dead", "pass", "pass", "pass", "pass", "dead", "pass", "pass"));
  EXPECT_THAT(outcomes_[2].failure->what, HasSubstr("stops the device: twice of two"));
  EXPECT_EQ(deaths_.size(), 4U);
  EXPECT_EQ(settled_, 10U);
}

TEST_F(Deaths, OfWhichTwoInARowHappenOnlyOnceEndARun) {
  EXPECT_THAT(run({{"2", 1}, {"4", 1}}), ElementsAre("pass", "pass", "pass", "pass", "pass", "not_run", "not_run",
                                                     "not_run", "not_run", "not_run"));
  EXPECT_THAT(run({{"2", 1}, {"4", 2}, {"6", 1}}),
              ElementsAre("pass", "pass", "pass", "pass", "dead", "pass", "pass", "pass", "pass", "pass"));
}

TEST_F(Deaths, ThatCannotBeRecoveredSayWhy) {
  can_recover_ = false;
  EXPECT_THAT(run({{"2", 1}}), testing::Contains("not_run").Times(7));
  EXPECT_THAT(outcomes_[2].failure->what, HasSubstr("the recovery failed: no power"));
}

/// Returns how often an instance that fails was run until its failure stood.
std::size_t runs_of_a_failure(const TryPlan& plan, bool is_known) {
  const CaseResult<Case> one =
      read_case("psn-x.yaml", "case: psn-x\ntitle: A\nrule: [R]\nlevel: must\nsteps: [{state: ERR}]\n");
  const std::vector<Instance> instances = expand(one.value()).value();
  SuiteOptions options{.seed = kSeed, .tries = plan};
  options.is_known = [is_known](const Instance&, const CaseOutcome&) { return is_known; };
  std::size_t runs = 0;
  const TargetFactory make_target = [&runs](std::uint64_t seed) -> std::unique_ptr<Target> {
    ++runs;
    return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
  };
  const std::vector<CaseOutcome> outcomes = run_suite(instances, {make_target}, options, [](std::size_t) {});
  EXPECT_EQ(outcomes.front().result, Result::fail);
  return runs;
}

TEST(KnownFailures, StandAtOnceUnlessALossMayLookLikeThem) {
  EXPECT_EQ(runs_of_a_failure(plan_without_loss(), true), 1U);
  EXPECT_EQ(runs_of_a_failure(plan_without_loss(), false), 2U);
  EXPECT_EQ(runs_of_a_failure(plan_for_loss(0.01), true), 4U);
}

}  // namespace
}  // namespace roce::conform
