// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "roce/wire/time.h"

namespace roce::runtime {

/// Counts durations in buckets whose width is at most 1/64 of their value, from nanoseconds to hours.
class LatencyHistogram {
 public:
  void add(Duration latency);
  /// Adds everything that another histogram has counted.
  void add(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Duration min() const { return min_; }
  [[nodiscard]] Duration max() const { return max_; }
  /// Returns the duration that `share` (0 … 1) of all do not exceed, to 1/64 of its value; 0 if there are none.
  [[nodiscard]] Duration percentile(double share) const;

  /// The durations from `from` up to but not including `to`.
  struct Bucket {
    Duration from{};
    Duration to{};
    std::uint64_t count = 0;
  };
  /// Returns all durations by powers of two, from the shortest to the longest.
  [[nodiscard]] std::vector<Bucket> by_powers_of_two() const;

 private:
  static constexpr unsigned kSteps = 64;  // buckets per power of two

  std::array<std::uint64_t, 48 * kSteps> counts_{};
  std::uint64_t count_ = 0;
  Duration min_ = Duration::max();
  Duration max_{0};
};

}  // namespace roce::runtime
