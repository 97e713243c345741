// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/noise.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// The results of a run, for programs.
struct RunReport {
  const std::vector<Instance>& instances;
  const std::vector<CaseOutcome>& outcomes;
  std::string device;            ///< what was tested
  std::uint64_t seed = 0;        ///< of the run
  std::optional<Noise> noise{};  ///< of the wire, if it was measured
};

/// Returns one JSON object: the device, the seed, and an object for each instance.
[[nodiscard]] std::string to_json(const RunReport& report);
/// Returns JUnit XML: a suite for each group, a case for each instance.
[[nodiscard]] std::string to_junit(const RunReport& report);

}  // namespace roce::conform
