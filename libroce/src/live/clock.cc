// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/clock.h"

#include <chrono>

namespace roce::live {

Time Clock::now() const {
  if (simulated_) return *simulated_;
  return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

}  // namespace roce::live
