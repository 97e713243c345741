// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::text {

/// Shows a line on standard error in the place of the last one, for people who wait.
void show_live_line(std::string_view line);
/// Shows how much of a file has been read; `share` is 0 … 1.
void show_reading(double share);
/// Removes the line, so that something else can be printed.
void end_live_line();

}  // namespace roce::text
