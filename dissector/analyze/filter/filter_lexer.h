// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace roce::analyze {

/// An error in a filter expression.
struct FilterError {
  std::size_t column = 0;  ///< position in the expression in bytes, from 1
  std::string expected;    ///< `a field name`
  std::string found;       ///< as in the expression; empty at its end
  std::vector<std::string> suggestions;

  friend bool operator==(const FilterError&, const FilterError&) = default;
};

/// Returns, for example, `column 5: expected a field name, found 'bth.psm'; did you mean bth.psn?`
[[nodiscard]] std::string to_string(const FilterError& error);

/// A token of a filter expression.
enum class FilterTokenKind : std::uint8_t {
  word,  ///< a name, a number, an address, a time
  text,  ///< in quotes
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  contains,
  in,
  logical_and,
  logical_or,
  logical_not,
  open,
  close,
  open_set,
  close_set,
  comma,
  range,
  end,
};

struct FilterToken {
  FilterTokenKind kind = FilterTokenKind::end;
  std::size_t column = 1;   ///< from 1
  std::string_view source;  ///< as written
  std::string value;        ///< for a word and a text, without quotes and escapes
};

/// Splits an expression into tokens; the last one is `end`. The tokens refer to `expression`. Error: a character with
/// which no token begins, or a quote that is not closed.
[[nodiscard]] tl::expected<std::vector<FilterToken>, FilterError> tokenize_filter(std::string_view expression);

}  // namespace roce::analyze
