// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "roce/congestion/control.h"

namespace roce::congestion {

/// The rates of a DCQCN limiter and the stages of their recovery: the part that the paper and ConnectX have in common.
struct Increase {
  // Parameters, in bits a second.
  double max = 0;
  double min = 0;
  double ai = 0;
  double hai = 0;
  std::uint64_t f = 0;
  bool counts_bytes = false;
  bool hyper_grows = false;  ///< the n-th hyper increase has n steps; else one
  std::uint64_t hyper_extra = 0;

  // State.
  double rate = 0;
  double target = 0;
  std::uint64_t time_stage = 0;
  std::uint64_t byte_stage = 0;

  /// Multiplies the rate by `share`, and begins recovery.
  void cut(double share, bool lowers_target) {
    if (lowers_target) target = rate;
    rate = std::max(min, rate * share);
    time_stage = byte_stage = 0;
  }
  /// True if time alone changes nothing any more but the stage.
  [[nodiscard]] bool is_full() const { return target >= max && max - rate < 1; }
  [[nodiscard]] bool is_hyper() const { return fewest() > f; }
  /// Raises the rate for the stage that was reached.
  void step() {
    if (std::max(time_stage, byte_stage) > f) {
      double by = ai;
      if (is_hyper()) by = hai * (hyper_grows ? static_cast<double>(fewest() - f + hyper_extra) : 1);
      target = std::min(max, target + by);
    }
    rate = (rate + target) / 2;
    if (is_full()) rate = max;
  }
  /// Returns what a limiter with these rates and this alpha shows.
  [[nodiscard]] Reading reading(bool limited, double alpha) const {
    return {.limited = limited,
            .rate_bps = rate,
            .target_bps = target,
            .alpha = limited ? alpha : 0,
            .time_stage = time_stage,
            .byte_stage = byte_stage};
  }

 private:
  /// The stage of the counter that is behind. Without a byte counter it follows the timer, one stage later.
  [[nodiscard]] std::uint64_t fewest() const {
    if (counts_bytes) return std::min(time_stage, byte_stage);
    return time_stage == 0 ? 0 : time_stage - 1;
  }
};

}  // namespace roce::congestion
