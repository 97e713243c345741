// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/palette.h"
#include "text/terminal.h"
#include "text/text_buffer.h"

namespace roce::text {

enum class Align : std::uint8_t { left, right };

/// The colour of a cell; see `Palette`.
enum class Tone : std::uint8_t { plain, bad, caution, faint };

/// The value of a cell for programs. `monostate`: the cell's text.
using ExactValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

struct TableColumn {
  std::string heading;  ///< for people
  Align align = Align::left;
  std::string key{};  ///< for programs: in CSV and JSON; empty: the heading
};

struct TableCell {
  std::string text;  ///< for people, one line of UTF-8
  Tone tone = Tone::plain;
  ExactValue exact{};  ///< for programs, if the text is rounded or has a unit
};

/// Rows under headings: aligned text for people, CSV and NDJSON for programs.
class TextTable {
 public:
  struct Layout {
    Palette palette{};
    Charset charset = Charset::utf8;
    std::size_t width = 0;  ///< columns of the terminal; 0: no limit
    std::size_t indent = 0;
    bool with_headings = true;
  };

  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// Adds a row of cells from the left; missing cells are empty. There may not be more cells than columns.
  void add_row(std::vector<TableCell> cells);
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  /// Appends the table as lines. If it is too wide for the terminal, the widest left-aligned columns are cut, and cut
  /// cells get a mark; right-aligned columns hold numbers, which are never cut. Control characters become
  /// `?`.
  void append_text(TextBuffer& out, const Layout& layout) const;
  /// Appends keys and rows as CSV (RFC 4180, lines end with CR LF).
  void append_csv(TextBuffer& out, bool with_keys = true) const;
  /// Appends one JSON object per row, each on one line. Missing and empty cells are null.
  void append_ndjson(TextBuffer& out) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths(const Layout& layout) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

/// Removes the columns in which each cell is empty or equals `nothing`. Each row must have a cell for each column.
void drop_empty_columns(std::vector<TableColumn>& columns, std::vector<std::vector<TableCell>>& rows,
                        std::string_view nothing = {});

}  // namespace roce::text
