// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::runtime {

/// Prints what a program says while it runs: on standard error for people, as JSON `{"event": …, "text": …}` on
/// standard output.
void print_note(std::string_view event, std::string_view text, bool json);

}  // namespace roce::runtime
