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
  std::size_t width = 0;   ///< characters of its cells, at most `TextRows::kMaxWidth`
  bool is_number = false;  ///< to the right
};

/// A table whose cells are texts, all of a column equally wide unless one has no room: so numbers stand below each
/// other in print, and sort as texts too. A cell stays where it is when it changes and when rows are added.
class TextRows {
 public:
  static constexpr std::size_t kMaxColumns = 6;
  static constexpr std::size_t kMaxWidth = 47;

  /// `columns`: at most `kMaxColumns`; they have to outlive the table.
  explicit TextRows(std::span<const TextColumn> columns) : columns_(columns) {}

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::span<const TextColumn> columns() const { return columns_; }
  /// Valid until `clear`.
  [[nodiscard]] const char* cell(std::size_t row, std::size_t column) const { return rows_[row][column].data(); }

  /// The number of the new row, whose cells are empty.
  std::size_t add();
  /// A text is cut after `kMaxWidth` characters.
  void set(std::size_t row, std::size_t column, std::string_view text);
  void set(std::size_t row, std::size_t column, std::uint64_t number);
  /// In microseconds, to the nanosecond.
  void set_microseconds(std::size_t row, std::size_t column, std::uint64_t nanoseconds);
  void clear() { rows_.clear(); }

 private:
  using Cell = std::array<char, kMaxWidth + 1>;
  std::span<const TextColumn> columns_;
  std::deque<std::array<Cell, kMaxColumns>> rows_;
};

}  // namespace roce::plugin
