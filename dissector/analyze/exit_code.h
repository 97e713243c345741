// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::analyze {

/// The exit codes of the program.
enum class ExitCode : int {
  ok = 0,
  usage = 1,   ///< the command line is wrong
  input = 2,   ///< a file could not be read, or not to its end
  output = 3,  ///< standard output could not be written
  memory = 4,  ///< there was not enough memory
};

}  // namespace roce::analyze
