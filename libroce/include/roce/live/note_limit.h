// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "roce/wire/time.h"

namespace roce::live {

/// Lets the first `kMost` notes of a kind in each `kInterval` through
/// and counts the others, so that strangers cannot fill a log.
class NoteLimit {
 public:
  static constexpr unsigned kMost = 8;
  static constexpr Duration kInterval = std::chrono::seconds{10};

  /// True if this note may be printed; otherwise it is counted.
  [[nodiscard]] bool may_tell(Time now) {
    if (now >= begun_ + kInterval) {
      begun_ = now;
      told_ = 0;
    }
    if (told_ < kMost) {
      ++told_;
      return true;
    }
    ++left_out_;
    return false;
  }
  /// Returns how many were counted since the last call, once the interval is over; until then, or if there are none, 0.
  [[nodiscard]] std::uint64_t take_left_out(Time now) {
    return now >= next_summary() ? std::exchange(left_out_, 0) : 0;
  }
  /// Returns the time at which to call `take_left_out`; kNever if nothing was counted.
  [[nodiscard]] Time next_summary() const { return left_out_ == 0 ? kNever : begun_ + kInterval; }

 private:
  // Earlier than any time that occurs.
  Time begun_ = Time{} - kInterval;
  unsigned told_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace roce::live
