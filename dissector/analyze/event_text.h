// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "analyze/analysis_run.h"

namespace roce::analyze {

/// What a verdict says, a sentence without its full stop.
[[nodiscard]] std::string event_text(const analysis::Verdict& verdict);

/// A verdict as one line of JSON, an object: `verdict`, `frame`, `segment`, `stream`, `cause`, `spurious`, `first_psn`,
/// `psn_count`, `other`, `elapsed_ns`; behind them its number, file, time, severity, when it was known, and its text.
/// Frames are numbered in their files.
[[nodiscard]] std::string event_line(std::uint64_t number, const analysis::Verdict& verdict, const SeenFiles& files);

}  // namespace roce::analyze
