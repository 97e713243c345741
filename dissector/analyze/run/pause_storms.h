// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Stations that paused a priority for 200 ms or longer without a break. No congestion lasts so long: switches take it
/// for a storm, and their watchdogs drop the packets of the priority. Where there is none, also the station that paused
/// one for longest, if that was 1 ms or longer.
struct PauseStorms {
  /// A sentence about each, the longest first, at most three: an error, or a warning if it was shorter on a link that
  /// is faster than 10 Gbit/s, and the speed is not known. Errors come first. A warning about a pause that is no storm.
  std::vector<Statement> statements;
  std::set<std::uint16_t> points;  ///< capture points of all of them
};

[[nodiscard]] PauseStorms find_storms(const AnalysisResult& result);

}  // namespace roce::analyze
