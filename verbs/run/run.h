// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"

namespace roce::verbs {

/// The command line of roce-run.
struct RunOptions {
  std::string address;               ///< empty: the program sees all interfaces
  bool only_check = false;           ///< say what will work, and run nothing
  std::vector<std::string> program;  ///< and its arguments; may be empty with `only_check`
};

/// Runs a program with our libibverbs in front of all others. Returns only if nothing is run, after a check or with the
/// reason: an address that is not of this machine, a port 4791 that is taken, a program that would not take the
/// library.
[[nodiscard]] Outcome<ExitCode> run(const RunOptions& options);

}  // namespace roce::verbs
