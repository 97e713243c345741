// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/capture_counts.h"
#include "analyze/verdict_counts.h"
#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// Where an analysis stands at the end of its files, for another run that goes on with the next ones (`--carry`,
/// `--after`). Bounded: files and streams that were closed are kept as far as `kFiles` and `kClosed` go.
struct CarriedState {
  static constexpr std::size_t kFiles = 1024;
  static constexpr std::size_t kClosed = 16'384;

  // What was read, from the first of these runs on.
  std::vector<CaptureFile> files;
  std::uint64_t files_left_out = 0;
  CaptureCounts counts;
  std::uint64_t frames = 0;              ///< of all files
  std::optional<std::int64_t> start_ns;  ///< of the first frame of all
  std::int64_t last_ns = 0;              ///< of the last

  // What was found.
  std::vector<std::byte> trackers;              ///< analysis::TrackerShards::save
  std::vector<std::byte> pauses;                ///< analysis::PauseTracker::save
  std::vector<analysis::StreamSummary> closed;  ///< streams that have ended, by number
  std::uint64_t closed_left_out = 0;
  std::map<std::uint32_t, std::uint64_t> breaches;  ///< `sent_while_paused`, by stream
  VerdictCounts verdicts;

  /// The streams that go on; of `trackers`, known when it was loaded.
  std::vector<analysis::StreamSummary> open;

  /// Error: a sentence that names the file, what is wrong and what to do.
  [[nodiscard]] static tl::expected<CarriedState, std::string> load(const std::string& path);
  /// The file is written whole or not at all. Error: a sentence.
  [[nodiscard]] tl::expected<void, std::string> save(const std::string& path) const;
};

}  // namespace roce::analyze
