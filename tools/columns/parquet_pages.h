// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roce::columns {

// The encodings of Parquet's pages. Each appends to `out`.

/// Appends numbers of `bits` bits (0 to 32) as runs of equal ones and packed groups of eight (RLE).
void append_runs(std::string& out, std::span<const std::uint32_t> values, unsigned bits);
void append_runs(std::string& out, std::span<const std::uint8_t> values, unsigned bits);

/// Appends one such run.
void append_run(std::string& out, std::uint32_t value, std::size_t length, unsigned bits);

/// Appends the differences of adjacent numbers, packed with as few bits as each 32 of them take (DELTA_BINARY_PACKED).
/// `width` is that of the physical type, 4 or 8 bytes, in which the differences wrap.
void append_deltas(std::string& out, std::span<const std::uint64_t> values, std::size_t width);

/// The different values of a column, and where each is used.
struct NumberDictionary {
  std::vector<std::uint64_t> entries;
  std::vector<std::uint32_t> numbers;  ///< for each value
};

/// Returns nothing if there are more than `most` different values.
[[nodiscard]] std::optional<NumberDictionary> make_dictionary(std::span<const std::uint64_t> values, std::size_t most);

/// Returns how many bits the numbers below `count` take.
[[nodiscard]] unsigned bits_for(std::size_t count);

}  // namespace roce::columns
