// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "roce/wire/time.h"

namespace roce::replay {

// The times of a capture are those that its file states: they may be as far apart as 64 bits allow.

/// Returns the time from `earlier` to `later`, limited to the range of a Duration.
[[nodiscard]] inline Duration between(Time earlier, Time later) {
  Duration::rep count = 0;
  const bool fits =
      !__builtin_sub_overflow(later.time_since_epoch().count(), earlier.time_since_epoch().count(), &count);
  if (fits) return Duration{count};
  return later < earlier ? Duration::min() : Duration::max();
}

/// Returns the time that is `duration` (not negative) after `time`, but at most the last one before kNever.
[[nodiscard]] inline Time later_by(Time time, Duration duration) {
  constexpr Time last = kNever - Duration{1};
  return time >= last - duration ? std::max(time, last) : time + duration;
}

}  // namespace roce::replay
