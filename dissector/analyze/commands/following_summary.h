// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "analyze/run/summary_model.h"
#include "analyze/session/analysis_session.h"
#include "command_line/outcome.h"

namespace roce::analyze {

/// Returns a comparison of nothing that says why, if capture points saw the same connections: what goes on while it is
/// read cannot be read twice.
[[nodiscard]] JoinedPoints not_joined(const AnalysisResult& result);

/// Summarises what a session follows, again and again while it goes on and once when it is over. `top`: the number of
/// streams listed, 0: all.
[[nodiscard]] ExitCode follow_summary(AnalysisSession& session, std::size_t top);

}  // namespace roce::analyze
