// SPDX-License-Identifier: BSD-2-Clause
#include "columns/native_encoder.h"

#include "columns/bytes.h"

namespace roce::columns {

namespace {

std::size_t bytes_of(Type type) {
  switch (type) {
    case Type::u8:
    case Type::boolean:
      return 1;
    case Type::u16:
      return 2;
    case Type::u32:
      return 4;
    case Type::u64:
    case Type::i64:
    case Type::text:
      break;
  }
  return 8;
}

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

void append_values(std::string& out, const Column& column, const Values& values, std::size_t rows) {
  if (column.nullable) {
    for (const std::uint8_t present : values.present()) out += static_cast<char>(present == 0);
  }
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool is_null = column.nullable && values.present()[row] == 0;
    const std::uint64_t value = is_null ? 0 : values.numbers()[next++];
    if (column.type == Type::text) {
      append_text(out, is_null ? std::string_view{} : values.texts()[value]);
    } else {
      append_little_endian(out, value, bytes_of(column.type));
    }
  }
}

}  // namespace

std::string clickhouse_type(const Column& column) {
  const std::string type{column.type == Type::boolean ? type_name(Type::u8) : type_name(column.type)};
  return column.nullable ? "Nullable(" + type + ")" : type;
}

void NativeEncoder::write(const Batch& batch) {
  if (batch.rows() == 0) return;
  append_varint(out_, batch.columns().size());
  append_varint(out_, batch.rows());
  for (std::size_t i = 0; i < batch.columns().size(); ++i) {
    append_text(out_, batch.columns()[i].name);
    append_text(out_, clickhouse_type(batch.columns()[i]));
    append_values(out_, batch.columns()[i], batch.values(i), batch.rows());
    sink_(std::as_bytes(std::span{out_}));
    out_.clear();
  }
}

}  // namespace roce::columns
