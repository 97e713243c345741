// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roce::columns {

/// Appends the low `bytes` bytes of a number, at most 8, the lowest first.
inline void append_little_endian(std::string& out, std::uint64_t value, std::size_t bytes) {
  std::array<char, sizeof(value)> octets{};
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<char>(value >> (8 * i) & 0xFFU);
  out.append(octets.data(), bytes);
}

/// Appends a number in groups of seven bits, the lowest first (ULEB128).
inline void append_varint(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7U) out += static_cast<char>(value | kMore);
  out += static_cast<char>(value);
}

/// Appends a signed number, small ones of either sign as few bytes.
inline void append_zigzag(std::string& out, std::int64_t value) {
  append_varint(out, (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
}

}  // namespace roce::columns
