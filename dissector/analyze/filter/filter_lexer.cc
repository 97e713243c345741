// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/filter_lexer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace roce::analyze {

namespace {

using Kind = FilterTokenKind;

struct Spelling {
  std::string_view text;
  Kind kind;
};

// A sign stands before any other that is a prefix of it.
constexpr std::array kSigns{
    Spelling{"==", Kind::equal},         Spelling{"!=", Kind::not_equal},  Spelling{"<=", Kind::less_equal},
    Spelling{">=", Kind::greater_equal}, Spelling{"<", Kind::less},        Spelling{">", Kind::greater},
    Spelling{"&&", Kind::logical_and},   Spelling{"||", Kind::logical_or}, Spelling{"!", Kind::logical_not},
    Spelling{"(", Kind::open},           Spelling{")", Kind::close},       Spelling{"{", Kind::open_set},
    Spelling{"}", Kind::close_set},      Spelling{",", Kind::comma},       Spelling{"..", Kind::range}};

constexpr std::array kWords{
    Spelling{"eq", Kind::equal},          Spelling{"ne", Kind::not_equal},   Spelling{"lt", Kind::less},
    Spelling{"le", Kind::less_equal},     Spelling{"gt", Kind::greater},     Spelling{"ge", Kind::greater_equal},
    Spelling{"contains", Kind::contains}, Spelling{"in", Kind::in},          Spelling{"and", Kind::logical_and},
    Spelling{"or", Kind::logical_or},     Spelling{"not", Kind::logical_not}};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// True if `c` may be part of a name, number, address or time; bytes of UTF-8 count as letters.
bool is_word(char c) {
  constexpr std::string_view kOthers = "_.:/-+";
  return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool equals_lower(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

std::size_t word_size(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_word(text[size]) && !text.substr(size).starts_with("..")) ++size;
  return size;
}

/// Returns the size of the quoted text with its quotes, 0 if the closing one is missing; `value` gets the content.
std::size_t take_quoted(std::string_view text, std::string& value) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text[0]) return i + 1;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    value.push_back(text[i]);
  }
  return 0;
}

std::optional<Spelling> find_sign(std::string_view text) {
  const auto* sign = std::find_if(kSigns.begin(), kSigns.end(),
                                  [&](const Spelling& spelling) { return text.starts_with(spelling.text); });
  return sign == kSigns.end() ? std::nullopt : std::optional{*sign};
}

std::string what_else(char c) {
  switch (c) {
    case '=':
      return "== for a comparison";
    case '&':
      return "&& for \"and\" (there is no bitwise and)";
    case '|':
      return "|| for \"or\"";
    case '~':
      return "contains (there are no regular expressions)";
    default:
      return "a field name, a value, an operator or a bracket";
  }
}

}  // namespace

std::string to_string(const FilterError& error) {
  const std::string found = error.found.empty() ? "the end of the expression" : fmt::format("'{}'", error.found);
  std::string text = fmt::format("column {}: expected {}, found {}", error.column, error.expected, found);
  if (!error.suggestions.empty()) text += fmt::format("; did you mean {}?", fmt::join(error.suggestions, ", "));
  return text;
}

tl::expected<std::vector<FilterToken>, FilterError> tokenize_filter(std::string_view expression) {
  std::vector<FilterToken> tokens;
  std::size_t at = 0;
  const auto add = [&](Kind kind, std::size_t size, std::string value) {
    tokens.push_back({kind, at + 1, expression.substr(at, size), std::move(value)});
    at += size;
  };
  for (;;) {
    while (at < expression.size() && is_space(expression[at])) ++at;
    const std::string_view rest = expression.substr(at);
    if (rest.empty()) break;
    if (const std::optional<Spelling> sign = find_sign(rest)) {
      add(sign->kind, sign->text.size(), {});
    } else if (rest[0] == '"' || rest[0] == '\'') {
      std::string value;
      const std::size_t size = take_quoted(rest, value);
      if (size == 0) {
        return tl::unexpected(
            FilterError{at + 1, fmt::format("a second {} behind the text", rest[0]), std::string{rest}, {}});
      }
      add(Kind::text, size, std::move(value));
    } else if (const std::size_t size = word_size(rest); size != 0) {
      const std::string_view word = rest.substr(0, size);
      const auto* operation = std::find_if(kWords.begin(), kWords.end(),
                                           [&](const Spelling& spelling) { return equals_lower(word, spelling.text); });
      if (operation != kWords.end()) {
        add(operation->kind, size, {});
      } else {
        add(Kind::word, size, std::string{word});
      }
    } else {
      return tl::unexpected(FilterError{at + 1, what_else(rest[0]), std::string{rest.substr(0, 1)}, {}});
    }
  }
  add(Kind::end, 0, {});
  return tokens;
}

}  // namespace roce::analyze
