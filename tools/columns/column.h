// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace roce::columns {

enum class Type : std::uint8_t { u8, u16, u32, u64, i64, boolean, text };

/// `UInt8` … `UInt64`, `Int64`, `Bool`, `String`.
[[nodiscard]] std::string_view type_name(Type type);

/// The description of a column, for all formats and for people.
struct Column {
  std::string_view name;  ///< snake_case
  Type type{};
  bool nullable = false;
  std::string_view unit;     ///< `ns`, `bytes`; empty if it has none
  std::string_view meaning;  ///< one phrase without its full stop
};

}  // namespace roce::columns
