// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::runtime {

/// Prints a message of a running program: on standard error for people, or as JSON `{"event": …, "text": …}` on
/// standard output.
void print_note(std::string_view event, std::string_view text, bool json);

}  // namespace roce::runtime
