// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "roce/live/metrics.h"

namespace roce::metrics {

/// Returns the metrics as OpenMetrics 1.0, up to its `# EOF`.
[[nodiscard]] std::string to_openmetrics(const live::Metrics& metrics);
/// Returns the metrics in the text format of Prometheus, version 0.0.4.
[[nodiscard]] std::string to_prometheus(const live::Metrics& metrics);
/// Returns `{"samples": [{"name": …, "labels": {…}, "value": …}]}`, with the names of samples in OpenMetrics.
[[nodiscard]] nlohmann::ordered_json to_json(const live::Metrics& metrics);

}  // namespace roce::metrics
