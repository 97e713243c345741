// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "command_line/outcome.h"

namespace roce::conform {

/// Returns the folder of the cases that belong to the program, which is found from the place of the executable, so that
/// an installation can be moved. Error, with exit code 2: there is none.
[[nodiscard]] Outcome<std::string> find_own_cases();

}  // namespace roce::conform
