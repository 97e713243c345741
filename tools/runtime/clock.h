// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>

#include "roce/wire/time.h"

namespace roce::runtime {

/// Returns the present time on the monotonic clock that a whole program uses.
[[nodiscard]] inline Time now() {
  return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace roce::runtime
