// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/pacing.h"

#include <algorithm>

namespace roce::replay {

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kBitsPerByte = 8;
// Some 146 years in nanoseconds: half of what a Duration can hold.
constexpr double kLongest = 0x1p62;

}  // namespace

/// Returns the present due time, and moves it on by the cost of this frame. Exact: remainders are carried on.
Duration Pacing::after_cost(std::uint64_t units) {
  const Duration due = due_;
  remainder_ += units * kNsPerSecond;
  due_ += Duration{static_cast<Duration::rep>(remainder_ / pace_.per_second)};
  remainder_ %= pace_.per_second;
  return due;
}

Duration Pacing::next(Duration captured, std::size_t bytes) {
  switch (pace_.kind) {
    case Pace::Kind::original: {
      const double scaled = static_cast<double>(captured.count()) / pace_.speed;
      due_ = std::max(due_,
                      pace_.speed == 1 ? captured : Duration{static_cast<Duration::rep>(std::min(scaled, kLongest))});
      return due_;
    }
    case Pace::Kind::packets:
      return after_cost(1);
    case Pace::Kind::bits:
      return after_cost(bytes * kBitsPerByte);
    case Pace::Kind::top:
      break;
  }
  return Duration{0};
}

}  // namespace roce::replay
