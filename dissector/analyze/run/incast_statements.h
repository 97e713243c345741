// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/run/summary_statements.h"
#include "roce/analysis/fan_in.h"

namespace roce::analyze {

/// Returns what the survey, made with `window`, shows of hosts that several others send to at once, warnings first:
/// that packets are marked or lost while they do, and which sender suffers most. `name` is what a host is called.
[[nodiscard]] std::vector<Statement> statements_about_incast(std::span<const analysis::FanInSummary> destinations,
                                                             Duration window,
                                                             const std::function<std::string(const Gid&)>& name);

}  // namespace roce::analyze
