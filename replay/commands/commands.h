// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {
class Program;
}

namespace roce::replay {

// Each adds the command of roce-replay with its name, which runs while `program` parses its command line and sets
// `code` to its exit code. `program` and `code` have to outlive the parsing.

void add_converse(command_line::Program& program, ExitCode& code);
void add_info(command_line::Program& program, ExitCode& code);
void add_rewrite(command_line::Program& program, ExitCode& code);
void add_send(command_line::Program& program, ExitCode& code);

}  // namespace roce::replay
