// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {
class Program;
}

// The commands of roce-conform. Each sets `code` to the exit code of the program when it runs.
namespace roce::conform {

void add_run(command_line::Program& program, ExitCode& code);
void add_report(command_line::Program& program, ExitCode& code);
void add_list(command_line::Program& program, ExitCode& code);
void add_show(command_line::Program& program, ExitCode& code);
void add_fuzz(command_line::Program& program, ExitCode& code);
void add_check(command_line::Program& program, ExitCode& code);

}  // namespace roce::conform
