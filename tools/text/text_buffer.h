// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roce/wire/types.h"

namespace roce::text {

/// The buffer in which output is assembled before it is written.
using TextBuffer = fmt::memory_buffer;

inline void append(TextBuffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

inline void append_spaces(TextBuffer& out, std::size_t count) {
  const std::size_t size = out.size();
  out.resize(size + count);
  std::fill_n(out.data() + size, count, ' ');
}

/// Appends text, aligned to the left or the right of a column.
inline void append_left(TextBuffer& out, std::string_view text, std::size_t width) {
  append(out, text);
  if (text.size() < width) append_spaces(out, width - text.size());
}
inline void append_right(TextBuffer& out, std::string_view text, std::size_t width) {
  if (text.size() < width) append_spaces(out, width - text.size());
  append(out, text);
}

/// Appends a decimal number, aligned to the right of a column.
inline void append_number(TextBuffer& out, std::uint64_t value, std::size_t width = 0) {
  const fmt::format_int digits{value};
  append_right(out, {digits.data(), digits.size()}, width);
}
inline void append_number_left(TextBuffer& out, std::uint64_t value, std::size_t width) {
  const fmt::format_int digits{value};
  append_left(out, {digits.data(), digits.size()}, width);
}

/// Appends `0x` and `digits` hex digits.
inline void append_hex(TextBuffer& out, std::uint64_t value, unsigned digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  append(out, "0x");
  while (digits-- > 0) out.push_back(kDigits[value >> (4 * digits) & 15]);
}

/// Appends two hex digits per byte.
inline void append_hex(TextBuffer& out, Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const std::byte byte : bytes) {
    out.push_back(kDigits[std::to_integer<unsigned>(byte) >> 4]);
    out.push_back(kDigits[std::to_integer<unsigned>(byte) & 15]);
  }
}

/// Appends text from a file (a name, a comment): control characters, which a terminal would obey, become `?`.
inline void append_printable(TextBuffer& out, std::string_view text) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    out.push_back(code < 0x20 || code == 0x7F ? '?' : c);
  }
}

}  // namespace roce::text
