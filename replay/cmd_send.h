// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "replay/exit_code.h"

namespace roce::command_line {
class Program;
}

namespace roce::replay {

/// Adds `roce-replay send`; `code` receives its exit code. `program` and `code` have to outlive the parsing.
void add_send(command_line::Program& program, ExitCode& code);

}  // namespace roce::replay
