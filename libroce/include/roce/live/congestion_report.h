// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "roce/congestion/control.h"

namespace roce::live {

/// Returns the state of a congestion control as reports have it: `limited`, `rate_bps`, `target_bps`, `alpha`.
[[nodiscard]] nlohmann::ordered_json to_json(const congestion::Reading& reading);

}  // namespace roce::live
