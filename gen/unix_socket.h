// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "gen/failure.h"

namespace roce::gen {

/// Listens on a Unix socket and does not wait. Its file gets mode 0600 and takes the place of one that nobody listens
/// on. `what` it is and `advice` stand in the message. Failures: somebody listens there, or it is not allowed; a path
/// that is too long.
[[nodiscard]] Outcome<int> listen_unix(const std::string& path, std::string_view what, std::string_view advice);
/// Connects to one. Failures: nobody listens there, or it is not allowed; a path that is too long. `who` should listen
/// and `advice` stand in the message.
[[nodiscard]] Outcome<int> connect_unix(const std::string& path, std::string_view who, std::string_view advice);

}  // namespace roce::gen
