// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <vector>

#include "conform/language/device_profile.h"
#include "conform/language/instance.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// True if an instance failed as the first deviation that names it says.
[[nodiscard]] bool is_known_deviation(const DeviceProfile& profile, const Instance& instance,
                                      const CaseOutcome& outcome);

/// Tells known deviations from new ones. An instance that failed as the first deviation that names it says becomes
/// `xfail`; one that failed in another way stays `fail`; one that passed although a deviation names it becomes `xpass`,
/// so that the list stays true.
void mark_known_deviations(const DeviceProfile& profile, const std::vector<Instance>& instances,
                           std::vector<CaseOutcome>& outcomes);

/// Returns the error for a pattern of the profile that fits none of `instances`; empty if there is no such one.
[[nodiscard]] std::optional<CaseError> find_stray_pattern(const DeviceProfile& profile,
                                                          const std::vector<Instance>& instances);

}  // namespace roce::conform
