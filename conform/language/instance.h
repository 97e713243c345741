// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conform/language/case.h"

namespace roce::conform {

/// A case with one value for each of its parameters. The case has to outlive it.
struct Instance {
  const Case* of = nullptr;
  std::vector<std::pair<std::string, ParameterValue>> parameters;

  /// Returns `nak-access[op=WRITE_ONLY,wrong=before]`.
  [[nodiscard]] std::string name() const;
  /// Returns a number for all random choices of the instance: the same for the same name and run seed.
  [[nodiscard]] std::uint64_t seed(std::uint64_t run_seed) const;
  /// Returns the value of `name`, or of a member of it: `field.reject`.
  [[nodiscard]] std::optional<Value> find(std::string_view name) const;
};

/// Returns the combinations of a case's parameters for which its `when` is true, the last parameter changing fastest.
/// Errors: `when` cannot be evaluated, or is never true; more than 100,000 combinations.
[[nodiscard]] CaseResult<std::vector<Instance>> expand(const Case& one);

}  // namespace roce::conform
