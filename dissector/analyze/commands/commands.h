// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {
class Program;
}

namespace roce::analyze {

class AnalysisEngine;

// Each adds the command of roce-analyze with its name, which runs while `program` parses its command line and sets
// `code` to its exit code. `program` and `code` have to outlive the parsing.

void add_annotate(command_line::Program& program, ExitCode& code);
void add_counters(command_line::Program& program, ExitCode& code);
void add_decode(command_line::Program& program, ExitCode& code);
/// `engine`: does the analysis, as in `add_streams` and `add_summary`; null: this process alone.
void add_events(command_line::Program& program, ExitCode& code, AnalysisEngine* engine = nullptr);
void add_export(command_line::Program& program, ExitCode& code);
void add_extract(command_line::Program& program, ExitCode& code);
void add_incast(command_line::Program& program, ExitCode& code);
void add_join(command_line::Program& program, ExitCode& code);
void add_latency(command_line::Program& program, ExitCode& code);
void add_messages(command_line::Program& program, ExitCode& code);
void add_nvme(command_line::Program& program, ExitCode& code);
void add_paths(command_line::Program& program, ExitCode& code);
void add_rules(command_line::Program& program, ExitCode& code);
void add_serve(command_line::Program& program, ExitCode& code);
void add_streams(command_line::Program& program, ExitCode& code, AnalysisEngine* engine = nullptr);
void add_summary(command_line::Program& program, ExitCode& code, AnalysisEngine* engine = nullptr);
void add_timeline(command_line::Program& program, ExitCode& code);
void add_waits(command_line::Program& program, ExitCode& code);

}  // namespace roce::analyze
