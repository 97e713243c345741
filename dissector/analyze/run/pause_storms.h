// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Returns a sentence about each station that paused a priority for 200 ms or longer without a break, the longest
/// first; at most three. No congestion lasts so long: switches take it for a storm, and their watchdogs drop the
/// packets of the priority.
[[nodiscard]] std::vector<Statement> statements_about_storms(const AnalysisResult& result);

}  // namespace roce::analyze
