// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyze/charts/by_stream.h"
#include "roce/analysis/waits.h"

namespace roce::analyze {

/// A value over time that holds until the next one, as its least and highest in intervals of equal length. The first
/// interval begins with the first value; neighbours are joined where there would be more than `kMost`.
class LevelCurve {
 public:
  static constexpr std::size_t kMost = 128;

  struct Interval {
    std::uint32_t low = 0;
    std::uint32_t high = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
  };

  /// Adds a value, which holds from `time_ns` on; one before the one before counts at its time.
  void add(std::int64_t time_ns, std::uint64_t value) {
    constexpr std::uint64_t kHighest = std::numeric_limits<std::uint32_t>::max();
    // Mostly it is in the last interval.
    const std::uint64_t since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start_ns_);
    if (since >> shift_ >= intervals_.size()) reach(time_ns);
    latest_ = static_cast<std::uint32_t>(value < kHighest ? value : kHighest);
    Interval& interval = intervals_.back();
    if (latest_ < interval.low) interval.low = latest_;
    if (latest_ > interval.high) interval.high = latest_;
  }

  /// Lets the last value hold until `time_ns`, unless it is 0.
  void hold(std::int64_t time_ns) {
    if (latest_ != 0) reach(time_ns);
  }

  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }
  [[nodiscard]] std::uint64_t width_ns() const { return std::uint64_t{1} << shift_; }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  void reach(std::int64_t time_ns);

  std::int64_t start_ns_ = 0;
  unsigned shift_ = 10;  ///< the length of an interval is a power of two
  std::uint32_t latest_ = 0;
  std::vector<Interval> intervals_;
};

/// The curves of what each requester had under way, of so many streams as `ByStream` has room for. Memory does not
/// depend on the capture.
class UnderWayCurves {
 public:
  static constexpr std::size_t kStreams = 4'096;

  void add(const analysis::UnderWay& under_way);
  /// Ends the curves: what is under way is so until `time_ns`.
  void hold(std::int64_t time_ns);
  /// Takes over a stream that proved to be direction 1 of another one.
  void absorb(std::uint32_t from, std::uint32_t into);

  /// Returns the curve of a requester; null if there is none.
  [[nodiscard]] const LevelCurve* curve(std::uint32_t stream, std::uint8_t direction) const;

 private:
  ByStream<std::array<LevelCurve, 2>> streams_{kStreams};
};

}  // namespace roce::analyze
