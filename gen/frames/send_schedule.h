// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"
#include "runtime/rate.h"

namespace roce::gen {

/// Determines when frames are sent. It has no clock: the caller passes the time.
class SendSchedule {
 public:
  struct Options {
    runtime::Rate rate{};  ///< `bps` counts whole frames, from the Ethernet header on and without FCS; both 0: at once
    std::uint64_t burst = 1;  ///< this many frames go together; the rate is kept over all bursts
    Duration on{0};           ///< frames are sent for this long, then none for `off`, and so on; 0: always
    Duration off{0};
  };

  SendSchedule(const Options& options, Time begin) : options_(options), begin_(begin), due_(begin) {}

  /// Returns when the next frame may be sent; `now` if it is late.
  [[nodiscard]] Time next(Time now) const { return is_free() ? std::max(due_, now) : next_limited(now); }
  /// Counts a frame of `bytes` bytes that was sent, or is about to be.
  void sent(std::size_t bytes, Time now) {
    if (!is_free()) count(bytes, now);
  }
  /// True if `time` is not in a pause between frames.
  [[nodiscard]] bool is_on(Time time) const { return options_.off == Duration{0} || into_period(time) < options_.on; }
  /// Returns when that changes next; `kNever` if there are no pauses.
  [[nodiscard]] Time next_change(Time time) const;

 private:
  // Called for each frame: all of this has to cost nothing if frames are sent at once.
  [[nodiscard]] bool is_free() const {
    return options_.rate.bps == 0 && options_.rate.pps == 0 && options_.off == Duration{0};
  }
  [[nodiscard]] Time next_limited(Time now) const;
  void count(std::size_t bytes, Time now);
  [[nodiscard]] Duration into_period(Time time) const;

  Options options_;
  Time begin_;
  Time due_;
  Duration burst_cost_{0};  ///< time at the rate for the frames of this burst so far
  std::uint64_t in_burst_ = 0;
};

}  // namespace roce::gen
