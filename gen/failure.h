// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "gen/exit_code.h"

namespace roce::gen {

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
/// The exchange failed.
[[nodiscard]] inline tl::unexpected<Failure> failed(std::string message) {
  return tl::unexpected(Failure{ExitCode::failed, std::move(message)});
}

}  // namespace roce::gen
