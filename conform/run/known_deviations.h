// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/language/device_profile.h"
#include "conform/language/instance.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// Tells known deviations from new ones. An instance that failed as the first deviation that names it says becomes
/// `xfail`; one that failed in another way stays `fail`; one that passed although a deviation names it becomes `xpass`,
/// so that the list stays true.
void mark_known_deviations(const DeviceProfile& profile, const std::vector<Instance>& instances,
                           std::vector<CaseOutcome>& outcomes);

/// Returns a deviation that names none of `instances`; null if there is no such one.
[[nodiscard]] const KnownDeviation* find_stray_deviation(const DeviceProfile& profile,
                                                         const std::vector<Instance>& instances);

}  // namespace roce::conform
