// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analysis/state_archive.h"
#include "analysis/tracker_state.h"

namespace roce::analysis {

/// How saved streams are numbered.
enum class StreamNumbers : std::uint8_t {
  kept,
  anew,  ///< from 0, in the order they had: for trackers whose streams another object numbers
};

/// Returns the summaries of the open streams, ordered by stream number; closed streams are not included.
[[nodiscard]] std::vector<StreamSummary> open_streams(const TrackerState& state);

/// Saves everything by which later packets are judged, but not what waits to be drained.
void save_tracker(StateWriter& archive, const TrackerState& state, StreamNumbers numbers);
/// Loads into a `state` that has its options and no packets yet. After a failure of `archive` the rest is left out.
void load_tracker(StateReader& archive, TrackerState& state);

}  // namespace roce::analysis
