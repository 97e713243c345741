// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/suite.h"

#include "conform/language/device_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace roce::conform {

namespace {

/// Returns what the device lacks of what a case needs; empty if nothing.
std::string find_lack(const Case& one, const Target& target) {
  for (const std::string& need : one.needs) {
    if (!target.has(need)) return need;
  }
  return {};
}

CaseOutcome run_one(const Instance& instance, const TargetFactory& make_target, const SuiteOptions& options) {
  const std::uint64_t seed = instance.seed(options.seed);
  if (fits_any(options.may_stop, instance)) {
    return {.result = Result::skip, .lacks = "leave to stop the device, which this may do"};
  }
  try {
    const std::unique_ptr<Target> target = make_target(seed);
    if (std::string lack = find_lack(*instance.of, *target); !lack.empty()) {
      return {.result = Result::skip, .lacks = std::move(lack)};
    }
    return CaseRun{*target, instance, seed, options.timing}.run();
  } catch (const DeviceGone& gone) {
    return {.result = Result::dead, .failure = StepFailure{instance.of->place, gone.what()}};
  }
}

/// The instances of a run, their outcomes, and what became of them so far.
struct Work {
  const std::vector<Instance>& instances;
  std::vector<std::size_t> order;
  std::vector<CaseOutcome>& outcomes;
  const SuiteOptions& options;
  const std::function<void(std::size_t)>& done;
  std::atomic<std::size_t> next{0};
  std::mutex reporting{};

  /// Runs what is left. False if the device is gone.
  bool run(const TargetFactory& make_target) {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      CaseOutcome& outcome = outcomes[order[i]];
      outcome = run_one(instances[order[i]], make_target, options);
      const bool is_gone = outcome.result == Result::dead;
      const std::lock_guard lock{reporting};
      done(order[i]);
      if (is_gone) return false;
    }
    return true;
  }
};

}  // namespace

std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances, const std::vector<TargetFactory>& factories,
                                   const SuiteOptions& options, const std::function<void(std::size_t)>& done) {
  std::vector<CaseOutcome> outcomes(instances.size(), CaseOutcome{.result = Result::not_run});
  std::vector<std::size_t> together;
  std::vector<std::size_t> alone;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    (options.shares_counters && instances[i].of->runs_alone() ? alone : together).push_back(i);
  }
  bool is_alive = false;
  Work parallel{instances, std::move(together), outcomes, options, done};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(factories.size(), parallel.order.size()); ++i) {
      threads.emplace_back([&parallel, &factories, i] { (void)parallel.run(factories[i]); });
    }
    is_alive = parallel.run(factories.front());
  }
  if (!is_alive) return outcomes;
  if (options.repeats_alone && factories.size() > 1) {
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (outcomes[i].result != Result::fail) continue;
      outcomes[i] = run_one(instances[i], factories.front(), options);
      outcomes[i].only_alone = outcomes[i].result == Result::pass;
      if (outcomes[i].result == Result::dead) return outcomes;
    }
  }
  Work serial{instances, std::move(alone), outcomes, options, done};
  (void)serial.run(factories.front());
  return outcomes;
}

}  // namespace roce::conform
