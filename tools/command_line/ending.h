// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {

/// The exit code of a command that has ended. Why it failed, if it did, goes to standard error, behind the program's
/// name.
[[nodiscard]] ExitCode ending_of(const char* program, const Outcome<ExitCode>& ended);

}  // namespace roce::command_line
