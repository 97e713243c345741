// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace roce::test {

/// Returns the bytes of hex digits; white space between the digits is skipped.
inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (digit < 0) throw std::invalid_argument("not a hex digit: " + std::string(1, c));
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("an odd number of hex digits");
  return bytes;
}

/// Returns two hex digits per byte.
inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace roce::test
