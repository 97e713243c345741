// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>

#include "columns/column.h"
#include "columns/thrift.h"

namespace roce::columns {

// Numbers of the format's enumerations.
inline constexpr int kDataPage = 0;
inline constexpr int kDictionaryPage = 2;
inline constexpr int kPlain = 0;
inline constexpr int kRuns = 3;
inline constexpr int kDeltas = 5;
inline constexpr int kDictionary = 8;
inline constexpr int kZstd = 6;

/// Returns the number of the type as which Parquet stores a column.
[[nodiscard]] int physical_type(Type type);
/// Returns the bytes of a number of that type; 1 for a boolean.
[[nodiscard]] std::size_t physical_bytes(Type type);

/// Appends the list of columns, each with what its values mean, as a field of the file's description.
void append_schema(ThriftWriter& thrift, int field, std::span<const Column> columns);

}  // namespace roce::columns
