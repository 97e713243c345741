// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::replay {

/// The speed at which frames follow one another.
struct Pace {
  enum class Kind : std::uint8_t {
    original,  ///< at the captured times
    packets,   ///< `per_second` frames a second
    bits,      ///< `per_second` bits a second, of whole frames from the Ethernet header on and without FCS
    top,       ///< each at once
  };

  Kind kind = Kind::original;
  double speed = 1;              ///< with `original`: divisor of the gaps; above 0
  std::uint64_t per_second = 0;  ///< with `packets` and `bits`: the rate; above 0
};

/// Tells when each frame is due. All times count from the start, never from when an earlier frame really went: a frame
/// that goes late does not delay those after it. No clock.
class Pacing {
 public:
  explicit Pacing(const Pace& pace) : pace_(pace) {}

  /// Returns when the next frame is due, since the start. `captured` is its time in the capture since the first frame
  /// and counts with `original` only; a frame with an earlier time than the one before is due together with that.
  [[nodiscard]] Duration next(Duration captured, std::size_t bytes);

 private:
  [[nodiscard]] Duration after_cost(std::uint64_t units);

  Pace pace_;
  Duration due_{0};
  // The part of the due time below a nanosecond, in units of a nanosecond divided by `per_second`.
  std::uint64_t remainder_ = 0;
};

}  // namespace roce::replay
