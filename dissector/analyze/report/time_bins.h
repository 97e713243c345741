// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/verdict.h"

namespace roce::analyze {

/// The events of one interval.
struct TimeBin {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;    ///< length of the frames
  std::uint64_t payload = 0;  ///< payload bytes that were seen for the first time
  std::uint64_t resent = 0;
  std::uint64_t lost = 0;
  std::uint64_t naks = 0;
  std::uint64_t rnr = 0;
  std::uint64_t ce = 0;
  std::uint64_t cnp = 0;
  std::uint64_t xoff = 0;  ///< PFC and PAUSE frames that ask for a pause

  TimeBin& operator+=(const TimeBin& other);
  friend bool operator==(const TimeBin&, const TimeBin&) = default;
};

/// True if nobody took the payload of such a packet before, and its receiver does not drop it.
[[nodiscard]] bool brings_new_payload(const analysis::PacketAnalysis& known);
/// Counts a RoCE packet in a bin.
void count(const AnalysedPacket& packet, TimeBin& bin);
/// Returns the member of a bin in which verdicts of a kind count; null if they count in none.
[[nodiscard]] std::uint64_t TimeBin::*counter_of(analysis::VerdictKind kind);
/// Returns how much a verdict adds to that: lost packets, or one event.
[[nodiscard]] std::uint64_t weight_of(const analysis::Verdict& verdict);

/// Consecutive intervals of equal length, at most `kMost` of them: beyond that they are joined in pairs, so that memory
/// does not depend on the duration of a capture.
class TimeBins {
 public:
  static constexpr std::size_t kMost = 1U << 16U;

  /// `width_ns`: at least 1; grows by doubling.
  explicit TimeBins(std::int64_t width_ns) : width_ns_(width_ns) {}

  /// Returns the interval of a time. The first time given begins the first interval, which also takes earlier times.
  [[nodiscard]] TimeBin& at(std::int64_t time_ns);
  /// Joins adjacent intervals until there are at most `count`.
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
