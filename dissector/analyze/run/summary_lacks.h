// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// Returns sentences for people: what the capture itself lacks, and what is wrong with its files.
[[nodiscard]] std::vector<std::string> find_lacks(const AnalysisResult& result);

/// Returns sentences for people: what `result` leaves out because memory is bounded.
[[nodiscard]] std::vector<std::string> memory_lacks(const AnalysisResult& result);

}  // namespace roce::analyze
