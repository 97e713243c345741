// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analyze/charts/report_series.h"
#include "analyze/report/summary_format.h"

namespace roce::analyze {

/// Returns the PSN graphs of the worst streams.
[[nodiscard]] nlohmann::ordered_json psn_json(const SummaryView& view, const ReportSeries& series);
/// Returns the slowest messages as `messages --top 20 --json` has them, each with its packets.
[[nodiscard]] nlohmann::ordered_json slowest_json(const SummaryView& view, const ReportSeries& series);
/// Returns the directions whose data was marked or slowed, with what `streams --json` says of it; of the worst also the
/// curve.
[[nodiscard]] nlohmann::ordered_json congestion_views_json(const SummaryView& view, const ReportSeries& series);
/// Returns the percentiles of the latency of messages, by type.
[[nodiscard]] nlohmann::ordered_json latency_curves_json(const ReportSeries& series);
/// Returns what hosts sent to each other.
[[nodiscard]] nlohmann::ordered_json hosts_json(const SummaryView& view);
/// Returns the times in which stations had paused priorities.
[[nodiscard]] nlohmann::ordered_json pauses_json(const SummaryView& view, const ReportSeries& series);

}  // namespace roce::analyze
