// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "columns/column.h"

namespace roce::columns {

/// The origin of a text: equal keys of one column have equal texts.
struct TextKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr bool operator==(const TextKey&, const TextKey&) = default;
};

/// The different texts of a column, numbered from 0 as they come. They are UTF-8: each byte of anything else becomes a
/// replacement character.
class Texts {
 public:
  /// Returns the number of the text with this key; `make` returns the text, and is called once for each key.
  template <typename Make>
  std::uint32_t number(TextKey key, Make make) {
    if (key == last_key_ && last_ != kNone) return last_;
    const std::uint32_t found = find(key);
    last_key_ = key;
    return last_ = found != kNone ? found : add(key, std::string_view{make()});
  }
  void clear();

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::string_view{bytes_}.substr(begin, ends_[number] - begin);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  struct Slot {
    TextKey key;
    std::uint32_t number = kNone;
  };

  [[nodiscard]] std::size_t place_of(TextKey key) const;
  [[nodiscard]] std::uint32_t find(TextKey key) const;
  std::uint32_t add(TextKey key, std::string_view text);

  std::string bytes_;
  std::vector<std::size_t> ends_;  ///< of each text in `bytes_`
  std::vector<Slot> slots_;        ///< a hash table whose size is a power of two, or empty
  TextKey last_key_{};
  std::uint32_t last_ = kNone;
};

/// The values of one column.
class Values {
 public:
  explicit Values(std::size_t capacity)
      : numbers_(std::make_unique_for_overwrite<std::uint64_t[]>(capacity)),
        present_(std::make_unique_for_overwrite<std::uint8_t[]>(capacity)) {}

  /// Those that are not null: the value, or the number of the text.
  [[nodiscard]] std::span<const std::uint64_t> numbers() const { return {numbers_.get(), numbers_count_}; }
  /// Of nullable columns: 1 or 0 for each row.
  [[nodiscard]] std::span<const std::uint8_t> present() const { return {present_.get(), present_count_}; }
  [[nodiscard]] const Texts& texts() const { return texts_; }
  void clear();

 private:
  friend class Cell;

  // Not vectors: a column that is never filled takes no memory, and a full one was never copied.
  std::unique_ptr<std::uint64_t[]> numbers_;
  std::unique_ptr<std::uint8_t[]> present_;
  std::size_t numbers_count_ = 0;
  std::size_t present_count_ = 0;
  Texts texts_;
};

/// The place in a column that takes the values of rows: exactly one call for each row, and `end` after the last.
class Cell {
 public:
  Cell(Values& values, bool nullable)
      : values_(values),
        number_(values.numbers_.get() + values.numbers_count_),
        present_(values.present_.get() + values.present_count_),
        nullable_(nullable) {}

  void number(std::uint64_t value) {
    *number_++ = value;
    if (nullable_) *present_++ = 1;
  }
  void number(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  template <typename Make>
  void text(TextKey key, Make make) {
    number(std::uint64_t{values_.texts_.number(key, make)});
  }
  /// Only in a nullable column.
  void null() { *present_++ = 0; }
  void end() {
    values_.numbers_count_ = static_cast<std::size_t>(number_ - values_.numbers_.get());
    values_.present_count_ = static_cast<std::size_t>(present_ - values_.present_.get());
  }

 private:
  Values& values_;
  std::uint64_t* number_;
  std::uint8_t* present_;
  bool nullable_;
};

/// Rows of a table, stored by column.
class Batch {
 public:
  /// `capacity`: the most rows.
  Batch(std::vector<Column> columns, std::size_t capacity);

  [[nodiscard]] Cell cell(std::size_t column) { return {values_[column], columns_[column].nullable}; }
  /// Ends rows of which every cell has got its value.
  void end_rows(std::size_t count) { rows_ += count; }
  /// Removes all rows.
  void clear();

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const Values& values(std::size_t column) const { return values_[column]; }
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  std::vector<Column> columns_;
  std::vector<Values> values_;
  std::size_t rows_ = 0;
};

}  // namespace roce::columns
