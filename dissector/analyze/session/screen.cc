// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/session/screen.h"

#include <unistd.h>

#include <limits>
#include <utility>

#include "text/terminal.h"

namespace roce::analyze {

namespace {

// ECMA-48 and xterm: the other screen on and off, the cursor to its start, the rest of a line and of the screen empty.
constexpr std::string_view kEnter = "\x1b[?1049h";
constexpr std::string_view kLeave = "\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kEmptyLine = "\x1b[K";
constexpr std::string_view kEmptyRest = "\x1b[J";

}  // namespace

Screen::~Screen() {
  if (!is_used_) return;
  text::append(output_.buffer(), kLeave);
  output_.flush();
}

void Screen::show(std::string_view text) {
  text::TextBuffer& out = output_.buffer();
  if (!std::exchange(is_used_, true)) text::append(out, kEnter);
  text::append(out, kHome);
  const std::size_t height = text::terminal_height(STDOUT_FILENO);
  // The line after the last one stays free for the cursor.
  std::size_t room = height > 1 ? height - 1 : std::numeric_limits<std::size_t>::max();
  for (; room != 0 && !text.empty(); --room) {
    const std::size_t end = text.find('\n');
    text::append(out, text.substr(0, end));
    text::append(out, kEmptyLine);
    text::append(out, "\r\n");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  text::append(out, kEmptyRest);
  output_.flush();
}

}  // namespace roce::analyze
