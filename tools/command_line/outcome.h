// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace roce::command_line {

/// The exit codes of the programs that act (roce-gen, roce-replay).
enum class ExitCode : int {
  ok = 0,      ///< everything asked for was done, and what came back was right
  failed = 1,  ///< the work was begun and failed
  usage = 2,   ///< wrong command line, or an environment in which the program cannot run
};

/// The reason why a command ends: a sentence for people and the exit code.
struct Failure {
  ExitCode code = ExitCode::failed;
  std::string message;
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

/// Returns the failure of a command that the environment or the command line does not allow.
[[nodiscard]] inline tl::unexpected<Failure> cannot(std::string message) {
  return tl::unexpected(Failure{ExitCode::usage, std::move(message)});
}
/// Returns the failure of a command that was begun.
[[nodiscard]] inline tl::unexpected<Failure> failed(std::string message) {
  return tl::unexpected(Failure{ExitCode::failed, std::move(message)});
}

}  // namespace roce::command_line
