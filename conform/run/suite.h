// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/case_run.h"
#include "conform/run/outcome.h"
#include "conform/run/tries.h"

namespace roce::conform {

/// Makes the device under test for an instance, from a seed for its random choices. Called from one thread.
using TargetFactory = std::function<std::unique_ptr<Target>(std::uint64_t seed)>;

/// The moment when a device stopped answering.
struct Death {
  Damage damage = Damage::none;
  std::string what{};                    ///< the sentence of the first instance that noticed
  std::vector<std::string> instances{};  ///< names of those that were under way
};

/// Brings a device back, so that the factories make targets of it again. Error: why that was not possible.
using Recovery = std::function<TargetResult<void>(const Death& death)>;

struct SuiteOptions {
  std::uint64_t seed = 1;
  Timing timing{};
  /// The devices are one, which may die: cases that have to run alone do, and when nothing came, somebody looks whether
  /// a new QP is served.
  bool is_one_device = false;
  /// How often a verdict has to be seen.
  TryPlan tries{};
  /// Patterns of instances or cases that are skipped, because they may stop the device.
  std::vector<std::string> may_stop{};
  /// True for a failure that stands at once, because the device is known to fail so, unless frames are lost on the way.
  /// Empty: there is none.
  std::function<bool(const Instance& instance, const CaseOutcome& outcome)> is_known{};
  /// Asked before each run of an instance, by any thread: true ends the suite. Empty: nobody interrupts it.
  std::function<bool()> is_interrupted{};
  Recovery recover{};  ///< empty: a device that died ends the run
};

/// Runs each instance against a device of its own, in a thread for each of `factories`, as often as `options.tries`
/// wants, and returns the outcomes in the order of the instances. They do not depend on the number of threads. `done`
/// is called once for each that has a verdict, from one thread at a time.
///
/// Once a thread has lost its device, nothing more is begun. After the recovery, which is called while no instance
/// runs, each that was under way is run once more alone: if the device dies again, the instance is `dead` and stops the
/// device. The rest runs. A device that is not recovered, or that dies twice in a row without an instance that stops it
/// again, ends the run; what has no verdict then is `not_run`. So is what an interruption leaves; an instance whose
/// tries so far were failures is `inconclusive`.
[[nodiscard]] std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances,
                                                 const std::vector<TargetFactory>& factories,
                                                 const SuiteOptions& options,
                                                 const std::function<void(std::size_t instance)>& done);

}  // namespace roce::conform
