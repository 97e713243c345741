// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "roce/live/result.h"

namespace roce::live {

/// Listens on a Unix socket that does not block. Its file gets mode 0600 and takes the place of one that nobody listens
/// on. `what`, which names the socket, and `advice` are part of the message of a failure. Failures: somebody listens
/// there, or it is not allowed; the path is too long.
[[nodiscard]] Result<int> listen_unix(const std::string& path, std::string_view what, std::string_view advice);
/// Connects to a Unix socket. Failures: nobody listens there, or it is not allowed; the path is too long. `who`, which
/// should listen there, and `advice` are part of the message.
[[nodiscard]] Result<int> connect_unix(const std::string& path, std::string_view who, std::string_view advice);

}  // namespace roce::live
