// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/case_run.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// Makes the device under test for an instance, from a seed for its random choices. Called from several threads.
using TargetFactory = std::function<std::unique_ptr<Target>(std::uint64_t seed)>;

struct SuiteOptions {
  std::uint64_t seed = 1;
  std::size_t threads = 1;
  Timing timing{};
};

/// Runs each instance against a device of its own, and returns the outcomes in the order of the instances. They do not
/// depend on the number of threads. `done` is called for each, from one thread at a time.
[[nodiscard]] std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances,
                                                 const TargetFactory& make_target, const SuiteOptions& options,
                                                 const std::function<void()>& done);

}  // namespace roce::conform
