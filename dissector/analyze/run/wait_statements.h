// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"
#include "roce/analysis/waits.h"

namespace roce::analyze {

/// Returns for the requesters with the most payload what each waits for most, and what would make it faster: for those
/// whose host is at the captured link, else for all. `name` is what a requester is called.
[[nodiscard]] std::vector<Statement> statements_about_waits(
    std::span<const analysis::WaitSummary> requesters,
    const std::function<std::string(const analysis::WaitSummary&)>& name);

}  // namespace roce::analyze
