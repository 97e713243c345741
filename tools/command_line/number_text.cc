// SPDX-License-Identifier: BSD-2-Clause
#include "command_line/number_text.h"

#include <array>
#include <cstddef>

namespace roce::command_line {

namespace {

constexpr std::size_t kLongestQuotation = 60;
constexpr std::size_t kLongestWithoutExponent = 16;

}  // namespace

std::string number_text(double value) {
  std::array<char, kLongestWithoutExponent> plain{};
  const auto fixed = std::to_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::fixed);
  if (fixed.ec == std::errc{}) return {plain.data(), fixed.ptr};
  std::array<char, 32> shortest{};  // a double has at most 24 characters
  return {shortest.data(), std::to_chars(shortest.data(), shortest.data() + shortest.size(), value).ptr};
}

std::string quote(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quotation = "'";
  for (const char c : text.substr(0, kLongestQuotation)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      quotation += c;
      continue;
    }
    quotation += "\\x";
    quotation += kDigits[byte >> 4U];
    quotation += kDigits[byte & 0xFU];
  }
  return quotation + (text.size() > kLongestQuotation ? "'..." : "'");
}

}  // namespace roce::command_line
