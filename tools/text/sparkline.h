// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "text/terminal.h"

namespace roce::text {

/// Draws a series of numbers, such as the goodput of each interval, as a line of at most `width` characters:
/// `▃▆█▁▁▅`, or `-=#__+` in ASCII. If there are more numbers, each character shows the mean of adjacent ones. The
/// highest character is the largest mean, the lowest only for 0 (or less); NaN (no data) leaves a blank.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width, Charset charset);

}  // namespace roce::text
