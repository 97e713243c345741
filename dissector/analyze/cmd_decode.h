// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::analyze {

/// Adds the subcommand `decode`, which runs while `program` parses its command line and sets `code`. `code` must
/// outlive `program`.
void add_decode(command_line::Program& program, ExitCode& code);

}  // namespace roce::analyze
