// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/program.h"
#include "replay/exit_code.h"

namespace roce::replay {

/// `roce-replay converse`. `code` has to outlive the parsing; it is what the command ended with.
void add_converse(command_line::Program& program, ExitCode& code);

}  // namespace roce::replay
