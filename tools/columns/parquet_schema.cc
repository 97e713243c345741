// SPDX-License-Identifier: BSD-2-Clause
#include "columns/parquet_schema.h"

namespace roce::columns {

namespace {

constexpr int kBoolean = 0;
constexpr int kInt32 = 1;
constexpr int kInt64 = 2;
constexpr int kByteArray = 6;

constexpr int kUtf8 = 0;
constexpr int kUint8 = 11;  // the unsigned types of 16, 32 and 64 bits follow
constexpr int kInt64Converted = 18;

void append_integer(ThriftWriter& thrift, int converted, int bits, bool is_signed) {
  thrift.i32(6, converted);
  thrift.begin(10);
  thrift.begin(10);
  thrift.i8(1, static_cast<std::int8_t>(bits));
  thrift.boolean(2, is_signed);
  thrift.end();
  thrift.end();
}

void append_meaning(ThriftWriter& thrift, Type type) {
  switch (type) {
    case Type::u8:
      return append_integer(thrift, kUint8, 8, false);
    case Type::u16:
      return append_integer(thrift, kUint8 + 1, 16, false);
    case Type::u32:
      return append_integer(thrift, kUint8 + 2, 32, false);
    case Type::u64:
      return append_integer(thrift, kUint8 + 3, 64, false);
    case Type::i64:
      return append_integer(thrift, kInt64Converted, 64, true);
    case Type::text:
      thrift.i32(6, kUtf8);
      thrift.begin(10);
      thrift.begin(1);
      thrift.end();
      thrift.end();
      return;
    case Type::boolean:
      return;
  }
}

}  // namespace

int physical_type(Type type) {
  switch (type) {
    case Type::boolean:
      return kBoolean;
    case Type::u8:
    case Type::u16:
    case Type::u32:
      return kInt32;
    case Type::u64:
    case Type::i64:
      return kInt64;
    case Type::text:
      break;
  }
  return kByteArray;
}

std::size_t physical_bytes(Type type) {
  const int physical = physical_type(type);
  return physical == kBoolean ? 1 : physical == kInt32 ? 4 : 8;
}

void append_schema(ThriftWriter& thrift, int field, std::span<const Column> columns) {
  thrift.list_of_structs(field, columns.size() + 1);
  thrift.begin_element();
  thrift.text(4, "schema");
  thrift.i32(5, static_cast<std::int32_t>(columns.size()));
  thrift.end();
  for (const Column& column : columns) {
    thrift.begin_element();
    thrift.i32(1, physical_type(column.type));
    thrift.i32(3, column.nullable ? 1 : 0);
    thrift.text(4, column.name);
    append_meaning(thrift, column.type);
    thrift.end();
  }
}

}  // namespace roce::columns
