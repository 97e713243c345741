// SPDX-License-Identifier: BSD-2-Clause
#include "text/palette.h"

#include <unistd.h>

#include <cstdlib>

namespace roce::text {

Palette choose_palette(ColourWhen when) {
  if (when == ColourWhen::never) return {};
  const char* no_colour = std::getenv("NO_COLOR");
  const bool is_refused = no_colour != nullptr && *no_colour != '\0';
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view{terminal} == "dumb";
  const bool automatic = isatty(STDOUT_FILENO) != 0 && !is_refused && !is_dumb;
  return when == ColourWhen::always || automatic ? kColours : Palette{};
}

void append_heading(TextBuffer& out, std::string_view heading, const Palette& palette) {
  out.push_back('\n');
  append(out, palette.faint);
  append(out, heading);
  append(out, palette.reset);
  out.push_back('\n');
}

}  // namespace roce::text
