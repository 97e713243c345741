// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "roce/wire/time.h"

namespace roce::gen {

/// Lets the first notes of a kind through and counts the others, so that strangers cannot fill a log: `kMost` in
/// `kInterval`.
class NoteLimit {
 public:
  static constexpr unsigned kMost = 8;
  static constexpr Duration kInterval = std::chrono::seconds{10};

  /// Whether this one may be told; else it is counted.
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
  /// How many were counted since the last time, once the interval is over; until then, and without any, 0.
  [[nodiscard]] std::uint64_t take_left_out(Time now) {
    return now >= next_summary() ? std::exchange(left_out_, 0) : 0;
  }
  /// When to ask for these; kNever if there are none.
  [[nodiscard]] Time next_summary() const { return left_out_ == 0 ? kNever : begun_ + kInterval; }

 private:
  // Before any time that there is.
  Time begun_ = Time{} - kInterval;
  unsigned told_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace roce::gen
