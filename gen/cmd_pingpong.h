// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::gen {

/// Adds `roce-gen pingpong`, which sets `code` to its exit code. `program` and `code` have to outlive the parsing.
void add_pingpong(command_line::Program& program, ExitCode& code);

}  // namespace roce::gen
