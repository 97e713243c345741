// SPDX-License-Identifier: BSD-2-Clause
#include "text/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

namespace roce::text {

namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Unicode's East Asian Width W and F, and emoji, in whole blocks.
constexpr std::array kWide{CodeRange{0x1100, 0x115F},   CodeRange{0x2E80, 0x303E},   CodeRange{0x3041, 0xA4CF},
                           CodeRange{0xA960, 0xA97F},   CodeRange{0xAC00, 0xD7A3},   CodeRange{0xF900, 0xFAFF},
                           CodeRange{0xFE30, 0xFE6F},   CodeRange{0xFF00, 0xFF60},   CodeRange{0xFFE0, 0xFFE6},
                           CodeRange{0x1F300, 0x1F64F}, CodeRange{0x1F680, 0x1F6FF}, CodeRange{0x1F900, 0x1F9FF},
                           CodeRange{0x20000, 0x3FFFD}};
constexpr std::array kCombining{CodeRange{0x0300, 0x036F}, CodeRange{0x1AB0, 0x1AFF}, CodeRange{0x1DC0, 0x1DFF},
                                CodeRange{0x200B, 0x200F}, CodeRange{0x20D0, 0x20FF}, CodeRange{0xFE00, 0xFE0F},
                                CodeRange{0xFE20, 0xFE2F}};

template <std::size_t N>
bool is_in(const std::array<CodeRange, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

/// One character, the first of a text that is not empty.
struct Glyph {
  std::size_t bytes;
  std::size_t columns;
};
Glyph first_glyph(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead >= 0xF0 && lead < 0xF8 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
  if (size <= 1 || size > text.size() || lead >= 0xF8) return {1, 1};
  char32_t code = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {1, 1};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  return {size, is_in(kCombining, code) ? 0U : is_in(kWide, code) ? 2U : 1U};
}

/// Returns the number that an environment variable holds; 0 if it is not set or not a number.
std::size_t positive_variable(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return 0;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc{} && *end == '\0' ? number : 0;
}

}  // namespace

Charset locale_charset() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text{value};
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool is_utf8 = text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
    return is_utf8 ? Charset::utf8 : Charset::ascii;
  }
  return Charset::ascii;
}

std::size_t terminal_width(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  if (const std::size_t columns = positive_variable("COLUMNS"); columns != 0) return columns;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t terminal_height(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  if (const std::size_t lines = positive_variable("LINES"); lines != 0) return lines;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    width += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return width;
}

std::size_t append_clipped(TextBuffer& out, std::string_view text, std::size_t width) {
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Glyph glyph = first_glyph(text.substr(bytes));
    if (used + glyph.columns > width) break;
    used += glyph.columns;
    bytes += glyph.bytes;
  }
  append_printable(out, text.substr(0, bytes));
  return used;
}

}  // namespace roce::text
