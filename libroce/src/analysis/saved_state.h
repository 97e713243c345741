// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analysis/state_archive.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

/// How saved streams are numbered.
enum class StreamNumbers : std::uint8_t {
  kept,
  anew,  ///< from 0, in the order they had: for trackers that share a numbering of somebody else
};

/// By number; those that were closed are not among them.
[[nodiscard]] std::vector<StreamSummary> open_streams(const TrackerState& state);

/// Everything that later packets are judged by; not what waits to be drained.
void save_tracker(StateWriter& archive, const TrackerState& state, StreamNumbers numbers);
/// `state` has its options and no packets yet. What could not be read is left out; the archive knows.
void load_tracker(StateReader& archive, TrackerState& state);

}  // namespace roce::analysis
