// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyze/charts/report_series.h"
#include "analyze/report/summary_format.h"

namespace roce::analyze {

/// Returns the tables of a report that are sorted and filtered like that of the connections: how flows spread and are
/// marked between hosts, as `paths` says it, and how many hosts send to one at once, as `incast` does. Those without
/// rows are not among them.
[[nodiscard]] nlohmann::ordered_json tables_json(const SummaryView& view, const ReportSeries& series);

}  // namespace roce::analyze
