// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace roce::verbs {

/// Starts roce-portd from a program of anybody, and waits until it serves an address; that of another process may
/// have come first. The calling process does not see a child, and its handlers of forks do not run. Error: a sentence,
/// the daemon's own or why it cannot be started.
[[nodiscard]] tl::expected<void, std::string> start_daemon(const std::string& program, const std::string& address,
                                                           const std::string& interface);

}  // namespace roce::verbs
