// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "analyze/charts/report_series.h"
#include "analyze/report/summary_format.h"

namespace roce::analyze {

/// Streams that a page lists at most, the worst first: it is to open quickly whatever the capture.
inline constexpr std::size_t kListedStreams = 100'000;

/// Returns everything that the page of a report shows, as one JSON value. `is_live`: the page is to be loaded again and
/// again, because the capture goes on.
[[nodiscard]] std::string report_json(const SummaryView& view, ReportSeries& series, bool is_live = false);

}  // namespace roce::analyze
