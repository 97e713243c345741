// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/input/capture_counts.h"
#include "analyze/input/capture_points.h"
#include "analyze/run/verdict_counts.h"
#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// The state of an analysis at the end of its files, for a run that goes on with the next ones (`--carry`, `--after`).
/// It is bounded: at most `kFiles` files and `kClosed` closed streams are kept.
struct CarriedState {
  static constexpr std::size_t kFiles = 1024;
  static constexpr std::size_t kClosed = 16'384;

  // Everything that was read, from the first of these runs on.
  std::vector<CaptureFile> files;
  std::uint64_t files_left_out = 0;
  CaptureCounts counts;
  std::vector<CapturePoint> points;  ///< by number
  std::vector<FileSet> file_sets;
  std::uint64_t frames = 0;              ///< in all files
  std::optional<std::int64_t> start_ns;  ///< time of the very first frame
  std::int64_t last_ns = 0;              ///< time of the last frame

  // Findings.
  std::vector<std::byte> trackers;              ///< analysis::TrackerShards::save
  std::vector<std::byte> pauses;                ///< analysis::PauseTracker::save
  std::vector<analysis::StreamSummary> closed;  ///< streams that have ended, by number
  std::uint64_t closed_left_out = 0;
  std::map<std::uint32_t, std::uint64_t> breaches;  ///< number of `sent_while_paused` verdicts, by stream
  VerdictCounts verdicts;
  std::vector<VerdictTotals> point_verdicts;  ///< by number of the point

  /// The streams that are still open. They are part of `trackers`; `load` extracts them.
  std::vector<analysis::StreamSummary> open;

  /// Error: a sentence that names the file and the problem, and says what to do about a state of another version.
  [[nodiscard]] static tl::expected<CarriedState, std::string> load(const std::string& path);
  /// Reads what `saved` returned. Error: as `load`, without the name of a file.
  [[nodiscard]] static tl::expected<CarriedState, std::string> parse(std::string_view saved);
  /// Returns the bytes of the file that `save` writes.
  [[nodiscard]] std::string saved() const;
  /// Writes the file as a whole or not at all. Error: a sentence.
  [[nodiscard]] tl::expected<void, std::string> save(const std::string& path) const;
};

}  // namespace roce::analyze
