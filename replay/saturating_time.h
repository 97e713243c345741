// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "roce/wire/time.h"

namespace roce::replay {

// Times of a capture are what its file says: they may lie as far apart as 64 bits allow.

/// From `earlier` to `later`; the longest time where it is longer.
[[nodiscard]] inline Duration between(Time earlier, Time later) {
  Duration::rep count = 0;
  const bool fits =
      !__builtin_sub_overflow(later.time_since_epoch().count(), earlier.time_since_epoch().count(), &count);
  if (fits) return Duration{count};
  return later < earlier ? Duration::min() : Duration::max();
}

/// `duration`, which is not negative, after `time`; the last time before never where it is later.
[[nodiscard]] inline Time later_by(Time time, Duration duration) {
  constexpr Time last = kNever - Duration{1};
  return time >= last - duration ? std::max(time, last) : time + duration;
}

}  // namespace roce::replay
