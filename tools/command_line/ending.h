// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {

/// Returns the exit code of a command that has ended. If it failed, prints the reason to standard error, after the
/// program's name.
[[nodiscard]] ExitCode ending_of(const char* program, const Outcome<ExitCode>& ended);

}  // namespace roce::command_line
