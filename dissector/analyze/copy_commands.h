// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::analyze {

// Each adds a subcommand that runs while `program` parses its command line and sets `code`, which must outlive
// `program`.

void add_extract(command_line::Program& program,
                 ExitCode& code);  ///< `extract`: the packets worth looking at, as a capture
void add_annotate(command_line::Program& program,
                  ExitCode& code);  ///< `annotate`: a capture with the verdicts as packet comments

}  // namespace roce::analyze
