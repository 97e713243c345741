// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/text_rows.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

namespace roce::plugin {

std::size_t TextRows::add() {
  rows_.emplace_back();
  for (std::size_t column = 0; column < columns_.size(); ++column) set(rows_.size() - 1, column, std::string_view{});
  return rows_.size() - 1;
}

void TextRows::set(std::size_t row, std::size_t column, std::string_view text) {
  Cell& cell = rows_[row][column];
  const std::size_t size = std::min(text.size(), kMaxWidth);
  const std::size_t width = std::max(size, columns_[column].width);
  const std::size_t begin = columns_[column].is_number ? width - size : 0;
  std::fill_n(cell.begin(), width, ' ');
  std::copy_n(text.begin(), size, cell.begin() + static_cast<std::ptrdiff_t>(begin));
  cell[width] = '\0';
}

void TextRows::set(std::size_t row, std::size_t column, std::uint64_t number) {
  const fmt::format_int text{number};
  set(row, column, std::string_view{text.data(), text.size()});
}

void TextRows::set_microseconds(std::size_t row, std::size_t column, std::uint64_t nanoseconds) {
  std::array<char, 32> text{};
  const auto result =
      fmt::format_to_n(text.data(), text.size(), FMT_COMPILE("{}.{:03}"), nanoseconds / 1000, nanoseconds % 1000);
  set(row, column, std::string_view{text.data(), std::min(result.size, text.size())});
}

}  // namespace roce::plugin
