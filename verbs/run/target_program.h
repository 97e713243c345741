// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "command_line/outcome.h"

namespace roce::verbs {

/// Returns the path of the file that would be run for `name`, looked up as a shell does. Failures: there is none; it is
/// set-uid or has capabilities, so that the dynamic linker passes over our library; it is linked statically.
[[nodiscard]] Outcome<std::string> find_program(const std::string& name);

}  // namespace roce::verbs
