// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/charts/by_stream.h"
#include "roce/analysis/rate_fit.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

/// The data of one direction of a connection in intervals of equal length: the frames that `analysis::is_data` is true
/// of, their marks, and the CNPs that their sender got. The first interval begins with the first of them;
/// neighbours are joined where there would be more than `kMost`.
class CongestionCurve {
 public:
  static constexpr std::size_t kMost = 128;

  struct Interval {
    std::uint64_t bytes = 0;  ///< of the frames
    std::uint32_t marks = 0;
    std::uint32_t cnps = 0;

    friend bool operator==(const Interval&, const Interval&) = default;
  };

  void add(std::int64_t time_ns, const Interval& more);

  [[nodiscard]] std::int64_t start_ns() const { return start_ns_.value_or(0); }
  [[nodiscard]] std::uint64_t width_ns() const { return width_ns_; }
  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  std::optional<std::int64_t> start_ns_;
  std::uint64_t width_ns_ = 1024;
  std::vector<Interval> intervals_;
};

/// The curves of the directions whose packets may be marked (ECT or CE), of so many connections as `ByStream` has room
/// for. Memory does not depend on the capture.
class CongestionCurves {
 public:
  static constexpr std::size_t kStreams = 4'096;

  void add(const analysis::Observation& seen, const analysis::PacketAnalysis& known);

  /// Returns the curve of the data of a direction; null if there is none.
  [[nodiscard]] const CongestionCurve* curve(std::uint32_t stream, std::uint8_t direction) const;
  /// Returns how the sender of the data of a direction reacted; null if it has no curve. Of a connection that was first
  /// taken for two, it has one part.
  [[nodiscard]] const analysis::RateFit* fit(std::uint32_t stream, std::uint8_t direction) const;

 private:
  struct Data {
    CongestionCurve curve;
    analysis::RateFit fit;
  };
  using Curves = std::array<Data, 2>;

  [[nodiscard]] const Data* data(std::uint32_t stream, std::uint8_t direction) const;

  void absorb(std::uint32_t from, std::uint32_t into);

  ByStream<Curves> streams_{kStreams};
};

}  // namespace roce::analyze
