// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::gen {

/// Adds `roce-gen craft`: packets of any kind, from named values.
void add_craft(command_line::Program& program, ExitCode& code);

}  // namespace roce::gen
