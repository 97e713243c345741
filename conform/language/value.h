// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

namespace roce::conform {

/// A value of a case: a number, a word, or a list of values.
struct Value {
  using List = std::vector<Value>;

  std::variant<std::uint64_t, std::string, List> content{std::uint64_t{0}};
  bool is_psn = false;     ///< a PSN or an MSN: arithmetic with it is modulo 2^24
  std::string spelling{};  ///< a number as a file has it: `0x60`, and `0011`, which may stand for bytes

  [[nodiscard]] static Value number(std::uint64_t number) { return {.content = number}; }
  [[nodiscard]] static Value psn(std::uint32_t number) { return {.content = std::uint64_t{number}, .is_psn = true}; }
  [[nodiscard]] static Value word(std::string word) { return {.content = std::move(word)}; }
  /// Returns the value of a scalar without an expression: a number if it reads as one (decimal or 0x…), else a word.
  [[nodiscard]] static Value of_scalar(std::string_view text);

  [[nodiscard]] const std::uint64_t* as_number() const { return std::get_if<std::uint64_t>(&content); }
  [[nodiscard]] const std::string* as_word() const { return std::get_if<std::string>(&content); }
  [[nodiscard]] const List* as_list() const { return std::get_if<List>(&content); }
  /// True for any number but 0, and for the word `true`.
  [[nodiscard]] bool is_true() const;

  /// True for equal numbers, and for equal texts.
  friend bool operator==(const Value& a, const Value& b);
};

/// Returns the value as the file has it, or as a case would write it: `17`, `SEND_ONLY`, `[1, 2]`.
[[nodiscard]] std::string to_string(const Value& value);

/// Returns the hex digits of bytes, of which a list of values is the whole.
[[nodiscard]] std::string bytes_text(const Value& value);

/// A value, or a sentence about why there is none.
template <typename T>
using Evaluated = tl::expected<T, std::string>;

}  // namespace roce::conform
