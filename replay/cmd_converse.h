// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/program.h"
#include "replay/exit_code.h"

namespace roce::replay {

/// Adds `roce-replay converse`; `code` receives its exit code and has to outlive the parsing.
void add_converse(command_line::Program& program, ExitCode& code);

}  // namespace roce::replay
