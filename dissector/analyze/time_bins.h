// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace roce::analyze {

/// What happened in one interval.
struct TimeBin {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;    ///< of the frames
  std::uint64_t payload = 0;  ///< bytes that were seen for the first time
  std::uint64_t resent = 0;
  std::uint64_t lost = 0;
  std::uint64_t naks = 0;
  std::uint64_t rnr = 0;
  std::uint64_t ce = 0;
  std::uint64_t cnp = 0;
  std::uint64_t xoff = 0;  ///< PFC and PAUSE frames that pause

  TimeBin& operator+=(const TimeBin& other);
  friend bool operator==(const TimeBin&, const TimeBin&) = default;
};

/// Consecutive intervals of equal length. There are never more than `kMost`: then they are joined in pairs, so that
/// memory does not depend on how long a capture is.
class TimeBins {
 public:
  static constexpr std::size_t kMost = 1U << 16U;

  /// `width_ns`: at least 1; grows by doubling.
  explicit TimeBins(std::int64_t width_ns) : width_ns_(width_ns) {}

  /// The interval of a time. The first time of all begins the first interval; what is earlier counts to it.
  [[nodiscard]] TimeBin& at(std::int64_t time_ns);
  /// Joins neighbours until there are at most `count`.
  void join(std::size_t count);

  [[nodiscard]] const std::vector<TimeBin>& bins() const { return bins_; }
  [[nodiscard]] std::int64_t width_ns() const { return width_ns_; }
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_.value_or(0); }

 private:
  void join_neighbours(std::size_t count);

  std::vector<TimeBin> bins_;
  std::int64_t width_ns_;
  std::optional<std::int64_t> start_ns_;
};

}  // namespace roce::analyze
