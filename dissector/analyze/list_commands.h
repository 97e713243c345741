// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::analyze {

// Each adds a subcommand that runs while `program` parses its command line and sets `code`, which must outlive
// `program`.

void add_streams(command_line::Program& program, ExitCode& code);   ///< `streams`: one row per stream
void add_messages(command_line::Program& program, ExitCode& code);  ///< `messages`: one row per message
void add_events(command_line::Program& program, ExitCode& code);    ///< `events`: one row per verdict
void add_latency(command_line::Program& program, ExitCode& code);   ///< `latency`: distributions by type of message
void add_timeline(command_line::Program& program, ExitCode& code);  ///< `timeline`: rates and losses over time
void add_counters(command_line::Program& program, ExitCode& code);  ///< `counters`: recomputes those of the NICs
void add_join(command_line::Program& program, ExitCode& code);   ///< `join`: what happened between two capture points
void add_rules(command_line::Program& program, ExitCode& code);  ///< `rules`: lists all verdicts and rules

}  // namespace roce::analyze
