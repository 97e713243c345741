// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace roce::command_line {

/// What the programs that act (roce-gen, roce-replay) exit with.
enum class ExitCode : int {
  ok = 0,      ///< everything asked for was done, and what came back was right
  failed = 1,  ///< it was begun and failed
  usage = 2,   ///< wrong command line, or an environment in which it cannot run
};

/// Why a command ends: a sentence for people and the exit code.
struct Failure {
  ExitCode code = ExitCode::failed;
  std::string message;
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

/// The environment or the command line does not allow it.
[[nodiscard]] inline tl::unexpected<Failure> cannot(std::string message) {
  return tl::unexpected(Failure{ExitCode::usage, std::move(message)});
}
/// It was begun and failed.
[[nodiscard]] inline tl::unexpected<Failure> failed(std::string message) {
  return tl::unexpected(Failure{ExitCode::failed, std::move(message)});
}

}  // namespace roce::command_line
