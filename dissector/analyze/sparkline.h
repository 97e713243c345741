// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "analyze/terminal.h"

namespace roce::analyze {

/// A series of numbers, such as the goodput of each interval, in one line of at most `width` characters: `▃▆█▁▁▅`, or
/// `-=#__+` in ASCII. Of more numbers than that, each character stands for the mean of a run of neighbours. The highest
/// character is the largest mean, the lowest only 0 (or less); a number that is none (no data) leaves a blank.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t width, Charset charset);

}  // namespace roce::analyze
