// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// Returns a verdict as a sentence without its full stop.
[[nodiscard]] std::string event_text(const analysis::Verdict& verdict);

/// Returns a verdict as one line of JSON, an object: `verdict`, `frame`, `segment`, `stream`, `cause`, `spurious`,
/// `first_psn`, `psn_count`, `other`, `elapsed_ns`, `rule`; after these its number, file, time, severity, whether it is
/// immediate or retrospective, and its text. Frames are numbered within their files.
[[nodiscard]] std::string event_line(std::uint64_t number, const analysis::Verdict& verdict, const SeenFiles& files,
                                     const SeenPoints& points);

}  // namespace roce::analyze
