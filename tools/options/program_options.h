// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "metrics/metrics_options.h"
#include "roce/live/endpoint_options.h"

namespace roce::command_line {
class Command;
}

namespace roce::options {

/// The options that every command that is an endpoint has.
struct ProgramOptions : live::EndpointOptions {
  bool verbose = false;  ///< print whether the kernel cuts super-frames, and if not, why
  bool json = false;
  metrics::MetricsOptions metrics;
};

/// Adds the options to a command. With `needs_interface` false, the command itself checks whether it needs one.
void add_endpoint_options(command_line::Command& command, ProgramOptions& options, bool needs_interface = true);
/// Adds `--shards`, for commands that can run several.
void add_shards_option(command_line::Command& command, ProgramOptions& options);

}  // namespace roce::options
