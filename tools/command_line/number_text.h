// SPDX-License-Identifier: BSD-2-Clause
// Numbers as the programs take them on their command lines, in place of CLI11's own conversions.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace roce::command_line {

/// Reads a whole number: digits, after a '-' if T has a sign, or hexadecimal digits after 0x. Nothing for any other
/// text, and for numbers that T does not have.
template <std::integral T>
[[nodiscard]] std::optional<T> read_number(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  // After the prefix, std::from_chars would still take a sign.
  if (is_hexadecimal && text.starts_with('-')) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads a number with or without a fraction and an exponent. Nothing for any other text, infinities and NaN included.
template <std::floating_point T>
[[nodiscard]] std::optional<T> read_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Reads a size from 1 to 1024G in bytes, or with k, M or G. Nothing for any other text.
[[nodiscard]] std::optional<std::uint64_t> read_size(std::string_view text);
/// Returns what is wrong with a text that `read_size` does not take.
[[nodiscard]] std::string size_mistake(std::string_view option, std::string_view text);

/// Returns the shortest text that reads as the same number, without an exponent if that is not much longer.
[[nodiscard]] std::string number_text(double value);
template <std::integral T>
[[nodiscard]] std::string number_text(T value) {
  return std::to_string(value);
}

/// Returns text from a command line in quotation marks, for an error of one line: control characters as \xNN, and at
/// most the first 60 bytes.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace roce::command_line
