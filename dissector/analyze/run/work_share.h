// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/input/decode_step.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// The part of a run that one of several processes does. Each reads all frames. Of some files one process has all; of
/// the others each follows some pairs of hosts.
struct WorkShare {
  static constexpr unsigned kAll = ~0U;

  unsigned part = 0;  ///< below `parts`; part 0 also has the frames that are not judged
  unsigned parts = 1;
  /// By index of the file: the part that has it, or `kAll`. Files of one capture point are all of the same part.
  std::vector<unsigned> file_parts;

  [[nodiscard]] bool has(const analysis::Observation& packet) const {
    return analysis::TrackerShards::virtual_shard_of(packet) % parts == part;
  }
};

/// The part that a process has in a frame of a run that is shared.
struct FrameShare {
  bool is_own = true;  ///< decode, count and follow it
  /// The frame of another process, if PFC and PAUSE are judged by it; its ICRC was not checked.
  std::optional<analysis::Observation> of_other;
};

/// Returns true if another process has all frames of the file with this index: they need not even be parsed.
[[nodiscard]] inline bool is_of_other(const WorkShare* share, std::size_t file) {
  return share != nullptr && share->file_parts[file] != share->part && share->file_parts[file] != WorkShare::kAll;
}

/// `share`: null if the run is not shared; `file`: the index of a file that is not of another process. The other
/// arguments are those of `decode_step`.
[[nodiscard]] inline FrameShare share_of(const WorkShare* share, std::size_t file, const Packet& whole, Time time,
                                         std::uint64_t frame, std::uint16_t point) {
  if (share == nullptr || share->file_parts[file] == share->part) return {};
  if (!is_judged(whole)) return {share->part == 0, std::nullopt};
  analysis::Observation seen = analysis::observe_packet(whole, {}, time, {frame, 0});
  seen.point = point;
  if (share->has(seen)) return {};
  return {false, seen};
}

}  // namespace roce::analyze
