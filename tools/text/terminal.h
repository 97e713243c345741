// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/text_buffer.h"

namespace roce::text {

/// The characters that the output may use.
enum class Charset : std::uint8_t { ascii, utf8 };

/// Returns the character set of the user's locale: LC_ALL, LC_CTYPE or LANG, the first of them that is set.
[[nodiscard]] Charset locale_charset();

/// Returns the columns of the terminal `descriptor`, or COLUMNS if that is set; 0 if it is not a terminal: no limit.
[[nodiscard]] std::size_t terminal_width(int descriptor);

/// Returns the lines of the terminal `descriptor`, or LINES if that is set; 0 if it is not a terminal: no limit.
[[nodiscard]] std::size_t terminal_height(int descriptor);

/// Returns the number of terminal columns that UTF-8 text takes: combining marks take none, wide East Asian letters and
/// emoji two, everything else one, also each byte that is not valid UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Appends the longest prefix of `text` that takes at most `width` columns, and returns the columns taken. Control
/// characters become `?`.
std::size_t append_clipped(TextBuffer& out, std::string_view text, std::size_t width);

}  // namespace roce::text
