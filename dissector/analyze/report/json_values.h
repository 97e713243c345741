// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/names/names.h"
#include "analyze/run/analysis_run.h"
#include "roce/analysis/histogram.h"

namespace roce::analyze {

using OrderedJson = nlohmann::ordered_json;

/// `error`, `warning`, `note`
[[nodiscard]] std::string_view severity_text(analysis::Severity severity);

/// `2026-11-20T23:55:31.479194000Z`
[[nodiscard]] std::string utc_text(std::int64_t ns);

/// Returns count, min, p50, p90, p99, p999 and max in nanoseconds; only the count if it is 0.
[[nodiscard]] OrderedJson latency_json(const analysis::Histogram& latency);

/// Returns the congestion of the data of one direction of a stream.
[[nodiscard]] OrderedJson congestion_json(const analysis::CongestionSummary& congestion);

/// Returns everything that is known about a stream. `points` are those of the run, by number.
[[nodiscard]] OrderedJson stream_json(const analysis::StreamSummary& stream, const Names& names,
                                      const std::vector<CapturePoint>& points);

/// Returns the PFC and PAUSE requests of one station; priorities that it did not mention are left out.
[[nodiscard]] OrderedJson pause_json(const analysis::PauseSummary& pause, const std::vector<CapturePoint>& points);

/// Returns one line; bytes that are not UTF-8 (names of files) become replacement characters.
[[nodiscard]] std::string json_line(const OrderedJson& value);

}  // namespace roce::analyze
