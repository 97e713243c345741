// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analyze/join/join_model.h"
#include "analyze/join/seen_packet.h"
#include "analyze/run/analysis_run.h"
#include "analyze/run/summary_model.h"

namespace roce::analyze {

/// Joining holds all packets of all points in memory, so a summary joins at most this many.
inline constexpr std::uint64_t kMostJoined = 4'000'000;

/// Stores the packets of all capture points of a run, to compare them afterwards.
class PointPackets final : public AnalysisConsumer {
 public:
  void on_packet(const AnalysedPacket& packet) override;

  /// Tells what happened to packets between the points. `points` are those of the run, by number.
  [[nodiscard]] JoinedPoints join(const std::vector<CapturePoint>& points);

 private:
  struct Pair;

  [[nodiscard]] std::int64_t difference_of(const Pair& pair) const;
  /// Returns the packets of `flows` at a point, whose last frame, RoCE or not, has that time.
  [[nodiscard]] JoinSide side_of(std::uint16_t point, const std::vector<bool>& flows, std::int64_t last_frame_ns) const;
  [[nodiscard]] std::vector<Pair> join_pairs(const std::vector<CapturePoint>& points, JoinedPoints& joined) const;

  FlowTable flows_;
  std::map<std::uint16_t, JoinSide> sides_;  ///< by point
};

}  // namespace roce::analyze
