// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "columns/bytes.h"

namespace roce::columns {

/// Appends structures in Thrift's compact protocol, in which Parquet describes itself. Fields come by rising number.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string& out) : out_(out) {}

  void i16(int field, std::int16_t value) { number(field, 4, value); }
  void i32(int field, std::int32_t value) { number(field, 5, value); }
  void i64(int field, std::int64_t value) { number(field, 6, value); }
  void i8(int field, std::int8_t value) {
    header(field, 3);
    out_ += static_cast<char>(value);
  }
  void boolean(int field, bool value) { header(field, value ? 1 : 2); }
  void text(int field, std::string_view value) {
    header(field, kText);
    element(value);
  }

  /// Begins a structure in a field; `end` ends it.
  void begin(int field) {
    header(field, kStruct);
    begin_element();
  }
  /// Begins a structure that is an element of a list, or stands alone.
  void begin_element() {
    outer_.push_back(last_);
    last_ = 0;
  }
  void end() {
    out_ += '\0';
    last_ = outer_.back();
    outer_.pop_back();
  }

  // A list in a field; exactly `size` elements follow.
  void list_of_structs(int field, std::size_t size) { list(field, size, kStruct); }
  void list_of_texts(int field, std::size_t size) { list(field, size, kText); }
  void list_of_i32(int field, std::size_t size) { list(field, size, 5); }
  void element(std::string_view value) {
    append_varint(out_, value.size());
    out_ += value;
  }
  void element(std::int32_t value) { append_zigzag(out_, value); }

 private:
  static constexpr int kText = 8;
  static constexpr int kStruct = 12;

  void number(int field, int type, std::int64_t value) {
    header(field, type);
    append_zigzag(out_, value);
  }
  void header(int field, int type) {
    out_ += static_cast<char>(((field - last_) << 4) | type);
    last_ = field;
  }
  void list(int field, std::size_t size, int type) {
    constexpr std::size_t kLong = 15;
    header(field, 9);
    if (size < kLong) {
      out_ += static_cast<char>((size << 4U) | static_cast<std::size_t>(type));
    } else {
      out_ += static_cast<char>(0xF0 | type);
      append_varint(out_, size);
    }
  }

  std::string& out_;
  std::vector<int> outer_;  ///< the last fields of the structures around this one
  int last_ = 0;
};

}  // namespace roce::columns
