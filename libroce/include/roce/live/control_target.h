// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "roce/live/control_server.h"
#include "roce/live/result.h"

namespace roce::live {

/// Parses the peer of a command line: the path of its control socket (with a `/`), or HOST:PORT of its control port,
/// which requires the secret in `token_file`. Failure: neither of the two, or the file cannot be used.
[[nodiscard]] Result<ControlAddress> control_target(const std::string& target, const std::string& token_file);

}  // namespace roce::live
