// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>

namespace roce {

using Duration = std::chrono::nanoseconds;

/// The clock of every `now` parameter. It cannot be read: the caller supplies the time,
/// from a monotonic clock in programs and from a counter in simulations. The epoch is the caller's choice.
struct CallerClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<CallerClock>;
  static constexpr bool is_steady = true;
};

/// A point in time, in nanoseconds since the caller's epoch.
using Time = CallerClock::time_point;

/// "Never", as the answer to "when next?".
inline constexpr Time kNever = Time::max();

}  // namespace roce
