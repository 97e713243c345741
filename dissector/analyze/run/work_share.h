// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/input/decode_step.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// The part of a run that one of several processes does. Each reads all frames, and follows some pairs of hosts.
struct WorkShare {
  unsigned part = 0;  ///< below `parts`; part 0 also has the frames that are not judged
  unsigned parts = 1;

  [[nodiscard]] bool has(const analysis::Observation& packet) const {
    return analysis::TrackerShards::virtual_shard_of(packet) % parts == part;
  }
};

/// What a process does with a frame of a run that is shared.
struct FrameShare {
  bool is_own = true;  ///< decode, count and follow it
  /// The frame of another process, if PFC and PAUSE are judged by it; its ICRC was not checked.
  std::optional<analysis::Observation> of_other;
};

/// `share`: null if the run is not shared. The other arguments are those of `decode_step`.
[[nodiscard]] inline FrameShare share_of(const WorkShare* share, const Packet& whole, Time time, std::uint64_t frame,
                                         std::uint16_t point) {
  if (share == nullptr) return {};
  if (!is_judged(whole)) return {share->part == 0, std::nullopt};
  analysis::Observation seen = analysis::observe_packet(whole, {}, time, {frame, 0});
  seen.point = point;
  if (share->has(seen)) return {};
  return {false, seen};
}

}  // namespace roce::analyze
