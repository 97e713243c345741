// SPDX-License-Identifier: BSD-2-Clause
#include "text/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace roce::text {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kGap = 2;
/// The smallest width to which a column is cut.
constexpr std::size_t kNarrowest = 8;

const std::string& key_of(const TableColumn& column) {
  return column.key.empty() ? column.heading : column.key;
}

std::string_view colour(const Palette& palette, Tone tone) {
  switch (tone) {
    case Tone::plain:
      return {};
    case Tone::bad:
      return palette.bad;
    case Tone::caution:
      return palette.caution;
    case Tone::faint:
      return palette.faint;
  }
  return {};
}

/// Appends one line of cells; spaces are never coloured, and none are left at the end of the line.
class LineWriter {
 public:
  LineWriter(TextBuffer& out, const TextTable::Layout& layout) : out_(out), layout_(layout), owed_(layout.indent) {}

  void add(std::string_view text, Tone tone, Align align, std::size_t width) {
    const std::size_t size = display_width(text);
    const bool is_cut = size > width;
    const std::size_t used = is_cut ? width : size;
    if (align == Align::right) owed_ += width - used;
    if (size != 0) {
      append_spaces(out_, std::exchange(owed_, 0));
      const std::string_view sequence = colour(layout_.palette, tone);
      append(out_, sequence);
      const std::size_t shown = append_clipped(out_, text, is_cut ? width - 1 : width);
      if (is_cut) append(out_, layout_.charset == Charset::utf8 ? "…" : "~");
      if (!sequence.empty()) append(out_, layout_.palette.reset);
      // A wide letter may not have fitted.
      owed_ += used - shown - (is_cut ? 1 : 0);
    }
    if (align == Align::left) owed_ += width - used;
    owed_ += kGap;
  }
  void end() { out_.push_back('\n'); }

 private:
  TextBuffer& out_;
  const TextTable::Layout& layout_;
  std::size_t owed_;
};

/// Returns the shortest form of a number that reads back as the same value; empty if it is not finite.
std::string real_text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string{};
}

struct CsvText {
  const TableCell& cell;
  std::string operator()(std::monostate) const { return cell.text; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return real_text(value); }
  std::string operator()(const std::string& value) const { return value; }
};

struct JsonValue {
  const TableCell& cell;
  Json operator()(std::monostate) const { return cell.text.empty() ? Json{} : Json(cell.text); }
  template <typename T>
  Json operator()(const T& value) const {
    return Json(value);  // NaN and infinity become null
  }
};

void append_csv_text(TextBuffer& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return append(out, text);
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

}  // namespace

void TextTable::add_row(std::vector<TableCell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(const Layout& layout) const {
  std::vector<std::size_t> widths(columns_.size());
  std::size_t total = layout.indent;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (layout.with_headings) widths[i] = display_width(columns_[i].heading);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i].text));
    total += widths[i] + (i == 0 ? 0 : kGap);
  }
  while (layout.width != 0 && total > layout.width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool can_be_cut = columns_[i].align == Align::left && widths[i] > kNarrowest;
      if (can_be_cut && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
    --total;
  }
  return widths;
}

void TextTable::append_text(TextBuffer& out, const Layout& layout) const {
  const std::vector<std::size_t> width = widths(layout);
  if (layout.with_headings) {
    LineWriter line{out, layout};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      line.add(columns_[i].heading, Tone::faint, columns_[i].align, width[i]);
    }
    line.end();
  }
  for (const auto& row : rows_) {
    LineWriter line{out, layout};
    for (std::size_t i = 0; i < columns_.size(); ++i) line.add(row[i].text, row[i].tone, columns_[i].align, width[i]);
    line.end();
  }
}

void TextTable::append_csv(TextBuffer& out, bool with_keys) const {
  const auto append_line = [&](const auto& text_of) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i != 0) out.push_back(',');
      append_csv_text(out, text_of(i));
    }
    append(out, "\r\n");
  };
  if (with_keys) append_line([&](std::size_t i) { return key_of(columns_[i]); });
  for (const auto& row : rows_) {
    append_line([&](std::size_t i) { return std::visit(CsvText{row[i]}, row[i].exact); });
  }
}

void TextTable::append_ndjson(TextBuffer& out) const {
  for (const auto& row : rows_) {
    Json object = Json::object();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      object[key_of(columns_[i])] = std::visit(JsonValue{row[i]}, row[i].exact);
    }
    // Names come from files and may contain invalid UTF-8.
    append(out, object.dump(-1, ' ', false, Json::error_handler_t::replace));
    out.push_back('\n');
  }
}

void drop_empty_columns(std::vector<TableColumn>& columns, std::vector<std::vector<TableCell>>& rows,
                        std::string_view nothing) {
  for (std::size_t column = columns.size(); column-- > 0;) {
    const bool is_empty = std::all_of(rows.begin(), rows.end(), [&](const std::vector<TableCell>& row) {
      return row[column].text.empty() || row[column].text == nothing;
    });
    if (!is_empty) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

}  // namespace roce::text
