// SPDX-License-Identifier: BSD-2-Clause
#include "metrics/metrics_options.h"

#include "command_line/command.h"

namespace roce::metrics {

void add_metrics_options(command_line::Command& command, MetricsOptions& options) {
  command
      .add_option(
          "--metrics", options.address,
          "Serve the counters by HTTP at /metrics (OpenMetrics, for Prometheus); without ADDRESS to this host only")
      .type_name("[ADDRESS:]PORT");
  command.add_option("--metrics-file", options.file, "Write the counters to a file at the end, as JSON")
      .type_name("FILE");
}

}  // namespace roce::metrics
