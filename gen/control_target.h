// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "gen/control_server.h"
#include "gen/failure.h"

namespace roce::gen {

/// Which peer a command line means: the path of its control socket (with a `/`), or HOST:PORT of its control port,
/// which wants the secret in `token_file`. Failure: it is neither, or the file cannot be used.
[[nodiscard]] Outcome<ControlAddress> control_target(const std::string& target, const std::string& token_file);

}  // namespace roce::gen
