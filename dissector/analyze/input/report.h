// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::analyze {

/// Writes one line for people to standard error: `roce-analyze: ` and the text, without control characters.
void report(std::string_view text);

}  // namespace roce::analyze
