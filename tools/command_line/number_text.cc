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

std::optional<std::uint64_t> read_size(std::string_view text) {
  constexpr std::string_view kLetters = "kMG";
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;
  unsigned bits = 0;
  if (const std::size_t letter = text.empty() ? std::string_view::npos : kLetters.find(text.back());
      letter != std::string_view::npos) {
    bits = 10 * (static_cast<unsigned>(letter) + 1);
    text.remove_suffix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0 || value > kLargest >> bits) {
    return std::nullopt;
  }
  return value << bits;
}

std::string size_mistake(std::string_view option, std::string_view text) {
  return std::string{option} + ": expected a size from 1 to 1024G, such as 512M, found " + quote(text);
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
