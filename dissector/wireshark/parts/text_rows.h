// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>

namespace roce::plugin {

struct TextColumn {
  std::string_view heading;
  std::size_t width = 0;   ///< width of its cells in characters, at most `TextRows::kMaxWidth`
  bool is_number = false;  ///< right-aligned
};

/// A table whose cells are texts. All cells of a column are equally wide, unless a text is too long: so numbers are
/// aligned in print, and sort correctly as texts. A cell keeps its address when it changes and when rows are added.
class TextRows {
 public:
  static constexpr std::size_t kMaxColumns = 12;
  static constexpr std::size_t kMaxWidth = 47;

  /// `columns`: at most `kMaxColumns`; they must outlive the table.
  explicit TextRows(std::span<const TextColumn> columns) : columns_(columns) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::span<const TextColumn> columns() const { return columns_; }
  /// Returns a cell; valid until `clear`.
  [[nodiscard]] const char* cell(std::size_t row, std::size_t column) const { return rows_[row][column].data(); }

  /// Adds a row of empty cells and returns its number.
  std::size_t add();
  /// Sets a cell. A text is cut after `kMaxWidth` characters.
  void set(std::size_t row, std::size_t column, std::string_view text);
  void set(std::size_t row, std::size_t column, std::uint64_t number);
  /// Sets a cell to a time in microseconds, with the precision of a nanosecond.
  void set_microseconds(std::size_t row, std::size_t column, std::uint64_t nanoseconds);
  void clear() { rows_.clear(); }

 private:
  using Cell = std::array<char, kMaxWidth + 1>;
  std::span<const TextColumn> columns_;
  std::deque<std::array<Cell, kMaxColumns>> rows_;
};

}  // namespace roce::plugin
