// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::replay {

/// How fast frames follow one another.
struct Pace {
  enum class Kind : std::uint8_t {
    original,  ///< as they were captured
    packets,   ///< so many frames a second
    bits,      ///< so many bits a second, of whole frames from the Ethernet header on and without FCS
    top,       ///< each at once
  };

  Kind kind = Kind::original;
  double speed = 1;              ///< with `original`: gaps are divided by it; above 0
  std::uint64_t per_second = 0;  ///< with `packets` and `bits`: how many; above 0
};

/// Says when each frame is due. All times count from the start, never from when a frame before really went: one that
/// goes late delays none behind it. No clock.
class Pacing {
 public:
  explicit Pacing(const Pace& pace) : pace_(pace) {}

  /// When the next frame is due, since the start. `captured` is its time in the capture since the first frame, which
  /// counts with `original` only; one that was captured before the frame in front of it is due together with that.
  [[nodiscard]] Duration next(Duration captured, std::size_t bytes);

 private:
  [[nodiscard]] Duration after_cost(std::uint64_t units);

  Pace pace_;
  Duration due_{0};
  // Of the frames so far, in units of a second divided by `per_second`: what is left below a nanosecond.
  std::uint64_t remainder_ = 0;
};

}  // namespace roce::replay
