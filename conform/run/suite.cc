// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/suite.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace roce::conform {

std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances, const TargetFactory& make_target,
                                   const SuiteOptions& options, const std::function<void()>& done) {
  std::vector<CaseOutcome> outcomes(instances.size());
  std::atomic<std::size_t> next{0};
  std::mutex reporting;
  const auto work = [&] {
    for (std::size_t i = next++; i < instances.size(); i = next++) {
      const std::uint64_t seed = instances[i].seed(options.seed);
      const std::unique_ptr<Target> target = make_target(seed);
      outcomes[i] = CaseRun{*target, instances[i], seed, options.timing}.run();
      const std::lock_guard lock{reporting};
      done();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(options.threads, instances.size()); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return outcomes;
}

}  // namespace roce::conform
