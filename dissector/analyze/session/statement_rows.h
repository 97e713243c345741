// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/summary_statements.h"
#include "analyze/session/analysis_session.h"

namespace roce::analyze {

/// Writes statements below the rows of a list, a line each; in JSON objects with `severity` and `statement`, in CSV
/// nothing.
void write_statements(AnalysisSession& session, const std::vector<Statement>& statements);

}  // namespace roce::analyze
