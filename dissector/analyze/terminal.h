// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyze/text_buffer.h"

namespace roce::analyze {

/// Which characters the reader of the output can see.
enum class Charset : std::uint8_t { ascii, utf8 };

/// The character set of the user's locale: LC_ALL, LC_CTYPE or LANG, the first of them that is set.
[[nodiscard]] Charset locale_charset();

/// Columns of the terminal that `descriptor` is, or of COLUMNS; 0 when it is no terminal: as wide as is needed.
[[nodiscard]] std::size_t terminal_width(int descriptor);

/// How many columns of a terminal UTF-8 text takes: combining marks none, the wide letters of East Asia and emoji two,
/// everything else one; so does a byte that is no UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Appends the longest start of `text` that takes at most `width` columns, and returns how many it takes. Control
/// characters become `?`.
std::size_t append_clipped(TextBuffer& out, std::string_view text, std::size_t width);

}  // namespace roce::analyze
