// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Returns what is said of packets that were lost, or never seen.
[[nodiscard]] std::vector<Statement> statements_about_losses(const JudgedPart& part);

}  // namespace roce::analyze
