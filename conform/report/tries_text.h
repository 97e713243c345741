// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "conform/run/outcome.h"

namespace roce::conform {

/// Returns the extent of a damage as a sentence; `none` if there is none.
[[nodiscard]] std::string_view damage_text(Damage damage);
/// Returns the reason why an instance was not run.
[[nodiscard]] std::string why_not_run(const CaseOutcome& outcome);
/// Returns one run of an instance in words: whether it ran alone, its result, the failure, and whether it counts.
[[nodiscard]] std::string try_text(const Try& run);

}  // namespace roce::conform
