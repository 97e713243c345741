// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::gen {

/// What roce-gen exits with.
enum class ExitCode : int {
  ok = 0,      ///< every operation completed, and its data were right
  failed = 1,  ///< the exchange failed
  usage = 2,   ///< wrong command line, or an environment in which it cannot run
};

}  // namespace roce::gen
