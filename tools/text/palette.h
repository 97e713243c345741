// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "text/text_buffer.h"

namespace roce::text {

/// When to use colours.
enum class ColourWhen : std::uint8_t { automatic, always, never };

/// Terminal sequences; all are empty if there is no colour.
struct Palette {
  std::string_view bad;      ///< errors
  std::string_view caution;  ///< things that deserve attention
  std::string_view faint;    ///< structure around the data
  std::string_view reset;
};

inline constexpr Palette kColours{"\033[1;31m", "\033[33m", "\033[2m", "\033[0m"};

/// Returns the colours for standard output: with `automatic` there are colours on a terminal that is not dumb, unless
/// NO_COLOR is set.
[[nodiscard]] Palette choose_palette(ColourWhen when);

/// Appends an empty line and the heading of what follows.
void append_heading(TextBuffer& out, std::string_view heading, const Palette& palette);

}  // namespace roce::text
