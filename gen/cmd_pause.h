// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::gen {

/// Adds `roce-gen pfc` and `roce-gen pause`, which stop the traffic of a wire and set `code` to their exit code.
/// `program` and `code` have to outlive the parsing.
void add_pause(command_line::Program& program, ExitCode& code);

}  // namespace roce::gen
