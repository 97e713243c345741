// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "roce/live/result.h"

namespace roce::live {

/// Returns the first line of a file that only its owner may read. Failure: unreadable, empty, or others may read it.
[[nodiscard]] Result<std::string> read_token(const std::string& path);

}  // namespace roce::live
