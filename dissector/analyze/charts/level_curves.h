// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  void add(std::int64_t time_ns, std::uint64_t value);

  [[nodiscard]] std::int64_t start_ns() const { return start_ns_.value_or(0); }
  [[nodiscard]] std::uint64_t width_ns() const { return width_ns_; }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  std::optional<std::int64_t> start_ns_;
  std::uint64_t width_ns_ = 1024;
  std::uint32_t latest_ = 0;
  std::vector<Interval> intervals_;
};

/// The curves of what each requester had under way. Memory does not depend on the capture.
class UnderWayCurves {
 public:
  static constexpr std::size_t kStreams = 4'096;  ///< the first ones

  void add(const analysis::UnderWay& under_way);
  /// Takes over a stream that proved to be direction 1 of another one.
  void absorb(std::uint32_t from, std::uint32_t into);

  /// Returns the curve of a requester; null if there is none.
  [[nodiscard]] const LevelCurve* curve(std::uint32_t stream, std::uint8_t direction) const;

 private:
  ByStream<std::array<LevelCurve, 2>> streams_{kStreams};
};

}  // namespace roce::analyze
