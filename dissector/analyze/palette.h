// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "analyze/decode_options.h"

namespace roce::analyze {

/// Terminal sequences, all empty where there is no colour.
struct Palette {
  std::string_view bad;      ///< what is wrong
  std::string_view caution;  ///< what deserves a look
  std::string_view faint;    ///< what only orders the rest
  std::string_view reset;
};

inline constexpr Palette kColours{"\033[1;31m", "\033[33m", "\033[2m", "\033[0m"};

/// The colours that standard output gets: `automatic` gives some on a terminal that is not dumb, unless NO_COLOR is
/// set.
[[nodiscard]] Palette choose_palette(ColourWhen when);

}  // namespace roce::analyze
