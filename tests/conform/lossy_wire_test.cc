// SPDX-License-Identifier: BSD-2-Clause
// A wire that loses frames: what is measured of it, and that no case gets another verdict by it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "conform/language/instance.h"
#include "conform/language/read_case.h"
#include "conform/run/noise.h"
#include "conform/run/suite.h"
#include "lossy_target.h"
#include "roce/transport/profile.h"
#include "support/source_tree.h"

namespace roce::conform {
namespace {

/// Every `step`-th instance of all cases.
struct Cases {
  explicit Cases(std::size_t step) {
    CaseResult<std::vector<Case>> read = read_cases(test::source_folder() + "/conform/cases");
    if (!read) {
      ADD_FAILURE() << to_string(read.error());
      return;
    }
    cases = std::move(*read);
    std::size_t number = 0;
    for (const Case& one : cases) {
      std::vector<Instance> all = expand(one).value();
      for (Instance& instance : all) {
        if (number++ % step == 0) instances.push_back(std::move(instance));
      }
    }
  }
  std::vector<Case> cases;
  std::vector<Instance> instances;
};

std::vector<CaseOutcome> run(const Cases& cases, const std::string& profile, double loss) {
  SuiteOptions options;
  if (loss != 0) options.tries = plan_for_loss(loss);
  std::uint64_t runs = 0;
  const TargetFactory make_target = [&](std::uint64_t seed) {
    return std::make_unique<LossyTarget>(transport::profile_of(profile), seed, loss, ++runs);
  };
  return run_suite(cases.instances, {make_target}, options, [](std::size_t) {});
}

void expect_the_verdicts_without_loss(const std::string& profile) {
  // ROCE_EVERY=1 takes all instances.
  const char* every = std::getenv("ROCE_EVERY");
  const Cases cases{every != nullptr ? std::strtoul(every, nullptr, 10) : 13};
  const std::vector<CaseOutcome> clean = run(cases, profile, 0);
  const std::vector<CaseOutcome> lossy = run(cases, profile, 0.01);
  std::size_t inconclusive = 0;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    repeated +=
        std::ranges::any_of(lossy[i].tries, [&](const Try& one) { return one.result != clean[i].result; }) ? 1 : 0;
    if (lossy[i].result == Result::inconclusive) {
      ++inconclusive;
      continue;
    }
    EXPECT_EQ(to_string(lossy[i].result), to_string(clean[i].result)) << cases.instances[i].name();
    if (lossy[i].failure && clean[i].failure) {
      EXPECT_EQ(lossy[i].failure->place.line, clean[i].failure->place.line) << cases.instances[i].name();
    }
  }
  EXPECT_GT(repeated, clean.size() / 20) << "the wire lost nothing";
  EXPECT_LE(inconclusive, clean.size() / 100);
  fmt::print("{}: {} instances, {} repeated, {} inconclusive\n", profile, clean.size(), repeated, inconclusive);
}

TEST(LossyWire, GivesADeviceThatKeepsTheRulesNoOtherVerdict) {
  expect_the_verdicts_without_loss("strict");
}

TEST(LossyWire, GivesADeviceThatDeviatesNoOtherVerdict) {
  expect_the_verdicts_without_loss("rxe");
}

TEST(Noise, ACleanWireHasNone) {
  MemoryTarget target{transport::profile_of("strict"), 1};
  const TargetResult<Noise> noise = measure_noise(target, 1000);
  ASSERT_TRUE(noise) << noise.error();
  EXPECT_EQ(noise->probes, 1000U);
  EXPECT_EQ(noise->pairs, 100U);
  EXPECT_EQ(noise->lost + noise->duplicated + noise->reordered, 0U);
}

TEST(Noise, LossIsMeasured) {
  LossyTarget target{transport::profile_of("strict"), 1, 0.02, 1};
  const TargetResult<Noise> noise = measure_noise(target, 2000);
  ASSERT_TRUE(noise) << noise.error();
  EXPECT_GT(noise->loss(), 0.01);
  EXPECT_LT(noise->loss(), 0.03);
  EXPECT_EQ(noise->duplicated + noise->reordered, 0U);
}

/// A wire that sends each frame to the device twice, or lets each second one overtake the one before.
class StrangeWire final : public MemoryTarget {
 public:
  enum class Habit { doubles, swaps };
  explicit StrangeWire(Habit habit) : MemoryTarget(transport::profile_of("strict"), 1), habit_(habit) {}

  [[nodiscard]] std::optional<SeenFrame> receive(Time until) override {
    if (held_) return std::exchange(held_, std::nullopt);
    std::optional<SeenFrame> frame = MemoryTarget::receive(until);
    if (!frame) return frame;
    if (habit_ == Habit::doubles) {
      held_ = frame;
      return frame;
    }
    std::optional<SeenFrame> next = MemoryTarget::receive(now());
    if (!next) return frame;
    held_ = std::move(frame);
    return next;
  }

 private:
  Habit habit_;
  std::optional<SeenFrame> held_{};
};

TEST(Noise, DuplicationIsMeasured) {
  StrangeWire target{StrangeWire::Habit::doubles};
  const TargetResult<Noise> noise = measure_noise(target, 100);
  ASSERT_TRUE(noise) << noise.error();
  EXPECT_GE(noise->duplicated, 100U);
  EXPECT_EQ(noise->lost, 0U);
}

TEST(Noise, ReorderingIsMeasured) {
  StrangeWire target{StrangeWire::Habit::swaps};
  const TargetResult<Noise> noise = measure_noise(target, 100);
  ASSERT_TRUE(noise) << noise.error();
  EXPECT_EQ(noise->pairs, 10U);
  EXPECT_EQ(noise->reordered, 10U);
}

TEST(Noise, ADeafDeviceIsToldAtOnce) {
  LossyTarget target{transport::profile_of("strict"), 1, 1, 1};
  const TargetResult<Noise> noise = measure_noise(target, 1'000'000);
  ASSERT_FALSE(noise);
  EXPECT_NE(noise.error().find("none of 10"), std::string::npos);
}

TEST(Noise, WidensTimes) {
  Timing timing{.quiet = std::chrono::milliseconds{10},
                .early = std::chrono::milliseconds{1},
                .late = std::chrono::milliseconds{50}};
  widen(timing, {.median = std::chrono::milliseconds{1}, .slowest = std::chrono::milliseconds{4}});
  EXPECT_EQ(timing.quiet, std::chrono::milliseconds{20});
  EXPECT_EQ(timing.early, std::chrono::milliseconds{4});
  EXPECT_EQ(timing.late, std::chrono::milliseconds{53});
}

}  // namespace
}  // namespace roce::conform
