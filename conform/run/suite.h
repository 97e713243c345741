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

namespace roce::conform {

/// Makes the device under test for an instance, from a seed for its random choices. Called from one thread.
using TargetFactory = std::function<std::unique_ptr<Target>(std::uint64_t seed)>;

struct SuiteOptions {
  std::uint64_t seed = 1;
  Timing timing{};
  /// Instances whose case compares counters run while no other does, because the devices are one.
  bool shares_counters = false;
  /// An instance that fails while others run is run again alone, and that verdict counts: the tester may have been too
  /// slow.
  bool repeats_alone = false;
  /// Patterns of instances or cases that are skipped, because they may stop the device.
  std::vector<std::string> may_stop{};
};

/// Runs each instance against a device of its own, in a thread for each of `factories`, and returns the outcomes in the
/// order of the instances. They do not depend on the number of threads. `done` is called for each, from one thread at a
/// time. Once a thread has lost its device, it runs nothing more; what nobody runs is `not_run`.
[[nodiscard]] std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances,
                                                 const std::vector<TargetFactory>& factories,
                                                 const SuiteOptions& options,
                                                 const std::function<void(std::size_t instance)>& done);

}  // namespace roce::conform
