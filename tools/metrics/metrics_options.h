// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace roce::command_line {
class Command;
}

namespace roce::metrics {

/// The destinations of a program's counters.
struct MetricsOptions {
  std::string address;  ///< `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT` to serve them by HTTP; empty: nowhere
  std::string file;     ///< file that gets them as JSON at the end; empty: none
};

/// Adds the options to a command.
void add_metrics_options(command_line::Command& command, MetricsOptions& options);

}  // namespace roce::metrics
