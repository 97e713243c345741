// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::gen {

/// Adds the subcommand `gids`, which runs while `program` parses its command line and sets `code`. `code` must outlive
/// `program`.
void add_gids(command_line::Program& program, ExitCode& code);

}  // namespace roce::gen
