// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// Returns the nanoseconds from the first frame of a run to a time.
[[nodiscard]] std::int64_t run_ns(const AnalysisResult& result, Time time);
/// Returns the same for people: `0.263349 s`.
[[nodiscard]] std::string run_seconds(const AnalysisResult& result, Time time);

}  // namespace roce::analyze
