// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace roce::verbs {

/// Prints `roce-verbs: MESSAGE` to standard error: for mistakes of the environment, which no number of errno.h explains
/// to the user of a program. The same message is printed once.
void complain(const std::string& message);

}  // namespace roce::verbs
