// SPDX-License-Identifier: BSD-2-Clause
// The model check: the result of random programs on two devices over a bad link is the same as if each request were
// executed at once, in order. ROCE_MODEL_SEED=<seed> runs just one program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "model_run.h"
#include "support/sanitized.h"

namespace roce::model {
namespace {

constexpr std::uint64_t kProgramsPerTest = test::kIsSanitized ? 50 : 1250;

class ModelCheck : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// Runs the programs of the range that is the parameter.
  void check(bool with_recovery);
};

void ModelCheck::check(bool with_recovery) {
  std::uint64_t first = GetParam() * 10'000;
  std::uint64_t count = kProgramsPerTest;
  if (const char* seed = std::getenv("ROCE_MODEL_SEED")) {
    first = std::strtoull(seed, nullptr, 0);
    if (first / 10'000 != GetParam()) GTEST_SKIP() << "another range has the seed";
    count = 1;
  }
  std::uint64_t frames = 0;
  std::uint64_t completions = 0;
  std::uint64_t errors = 0;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 5; ++seed) {
    Program program = make_program(seed);
    if (with_recovery) program.recovery = draw_recovery(seed);
    const Result result = run(program);
    frames += result.frames;
    completions += result.completions;
    errors += result.errors;
    if (result.failure.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << " (again: ROCE_MODEL_SEED=" << seed << " with this test): " << result.failure
                  << "\n"
                  << describe(program);
  }
  RecordProperty("frames", std::to_string(frames));
  RecordProperty("completions", std::to_string(completions));
  RecordProperty("errors", std::to_string(errors));
}

TEST_P(ModelCheck, MatchesTheReference) {
  check(false);
}

TEST_P(ModelCheck, MatchesTheReferenceWhateverIsDoneAboutLosses) {
  check(true);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelCheck, testing::Range(std::uint64_t{0}, std::uint64_t{8}));

}  // namespace
}  // namespace roce::model
