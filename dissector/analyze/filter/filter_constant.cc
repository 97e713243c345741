// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/filter_constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>

#include "command_line/spelling.h"
#include "packet_text/time_text.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using Kind = FilterTokenKind;

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

template <typename T>
std::optional<T> whole(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> unsigned_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return whole<std::uint64_t>(text.substr(2), 16);
  return whole<std::uint64_t>(text);
}

std::optional<double> real_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::uint64_t largest(const FilterField& field) {
  return field.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.bits) - 1;
}

std::optional<std::uint64_t> named_value(const FilterField& field, std::string_view text) {
  const std::string wanted = lower(text);
  for (const ValueName& row : field.value_names) {
    if (lower(row.name) == wanted) return row.value;
  }
  return std::nullopt;
}

std::optional<FilterConstant> boolean(const FilterField& field, std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  const std::optional<std::uint64_t> named = named_value(field, text);
  return named ? std::optional<FilterConstant>{*named != 0} : std::nullopt;
}

std::optional<FilterConstant> number(const FilterField& field, const FilterToken& token) {
  if (const std::optional<std::uint64_t> named = named_value(field, token.value)) return *named;
  const std::optional<std::uint64_t> value = unsigned_number(token.value);
  if (token.kind != Kind::word || !value || *value > largest(field)) return std::nullopt;
  return *value;
}

std::optional<FilterConstant> time_of(std::string_view text) {
  const std::optional<packet_text::TimeBound> bound = packet_text::parse_time(text);
  return bound && !bound->relative ? std::optional<FilterConstant>{bound->ns} : std::nullopt;
}

/// Parses hex digits, two for each byte, with or without colons between the bytes.
std::optional<FilterConstant> hex_bytes(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  if (text.empty()) return std::nullopt;
  std::string bytes;
  while (!text.empty()) {
    const std::optional<std::uint8_t> byte = whole<std::uint8_t>(text.substr(0, 2), 16);
    if (text.size() < 2 || !byte) return std::nullopt;
    bytes.push_back(static_cast<char>(*byte));
    text.remove_prefix(2);
    if (text.size() > 1 && text[0] == ':') text.remove_prefix(1);
  }
  return bytes;
}

std::optional<FilterConstant> address(std::string_view text, bool mac) {
  auto pattern = AddressPattern::parse(text);
  if (!pattern || pattern->is_mac() != mac) return std::nullopt;
  return *pattern;
}

template <typename T>
std::optional<FilterConstant> constant(const std::optional<T>& value) {
  return value ? std::optional<FilterConstant>{*value} : std::nullopt;
}

std::optional<FilterConstant> read_value(const FilterField& field, const FilterToken& token) {
  const std::string& text = token.value;
  switch (field.type) {
    case FieldType::presence:
      break;
    case FieldType::boolean:
      return boolean(field, text);
    case FieldType::number:
      return number(field, token);
    case FieldType::integer:
      return constant(whole<std::int64_t>(text));
    case FieldType::real:
      return constant(real_number(text));
    case FieldType::duration:
      return constant(text::parse_duration(text));
    case FieldType::time:
      return time_of(text);
    case FieldType::address:
      return address(text, false);
    case FieldType::mac:
      return address(text, true);
    case FieldType::bytes:
      return token.kind == Kind::text ? FilterConstant{text} : hex_bytes(text);
    case FieldType::text:
      return text;
  }
  return std::nullopt;
}

std::string describe(const FilterField& field) {
  switch (field.type) {
    case FieldType::presence:
      return "nothing to compare with: a header is there or not";
    case FieldType::boolean:
      return "true or false";
    case FieldType::number: {
      std::string range = fmt::format("a number 0 ... {}", largest(field));
      if (field.value_names.empty()) return range;
      return fmt::format("{} or a name such as \"{}\"", range, field.value_names.front().name);
    }
    case FieldType::integer:
      return "a whole number";
    case FieldType::real:
      return "a number";
    case FieldType::duration:
      return "a duration such as 10us, 1.5ms or 2s";
    case FieldType::time:
      return "a time such as 2026-11-20T23:55:31.5Z or seconds since 1970";
    case FieldType::address:
      return "an address such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::1";
    case FieldType::mac:
      return "a MAC address such as 02:00:00:00:00:01";
    case FieldType::bytes:
      return "bytes such as 01:02:03 or a text in quotes";
    case FieldType::text:
      return "a text";
  }
  return {};
}

/// Compares a value with a constant of the matching type; values of any other type are unordered.
struct Comparer {
  std::partial_ordering operator()(const Gid& value, const AddressPattern& pattern) const {
    return !pattern.is_mac() && pattern.matches(value) ? std::partial_ordering::equivalent
                                                       : std::partial_ordering::unordered;
  }
  std::partial_ordering operator()(const MacAddress& value, const AddressPattern& pattern) const {
    return pattern.is_mac() && pattern.matches(value) ? std::partial_ordering::equivalent
                                                      : std::partial_ordering::unordered;
  }
  std::partial_ordering operator()(std::string_view value, const std::string& text) const {
    return value <=> std::string_view{text};
  }
  template <typename T>
  std::partial_ordering operator()(const T& value, const T& other) const {
    return value <=> other;
  }
  template <typename T, typename U>
  std::partial_ordering operator()(const T& /*value*/, const U& /*other*/) const {
    return std::partial_ordering::unordered;
  }
};

}  // namespace

tl::expected<FilterConstant, FilterError> parse_constant(const FilterField& field, const FilterToken& token) {
  FilterError error{
      token.column, fmt::format("{} to compare {} with", describe(field), field.name), std::string{token.source}, {}};
  if (field.type == FieldType::presence) error.expected = describe(field);
  if (token.kind != Kind::word && token.kind != Kind::text) return tl::unexpected(std::move(error));
  std::optional<FilterConstant> value = read_value(field, token);
  if (value) return *std::move(value);
  std::vector<std::string_view> names;
  for (const ValueName& row : field.value_names) names.push_back(row.name);
  error.suggestions = command_line::nearest_names(token.value, names);
  return tl::unexpected(std::move(error));
}

std::vector<std::uint64_t> values_named_like(const FilterField& field, std::string_view text) {
  const std::string wanted = lower(text);
  std::vector<std::uint64_t> values;
  for (const ValueName& row : field.value_names) {
    if (lower(row.name).find(wanted) != std::string::npos) values.push_back(row.value);
  }
  return values;
}

bool has_order(FieldType type) {
  switch (type) {
    case FieldType::presence:
    case FieldType::boolean:
    case FieldType::address:
    case FieldType::mac:
    case FieldType::bytes:
      return false;
    case FieldType::number:
    case FieldType::integer:
    case FieldType::real:
    case FieldType::duration:
    case FieldType::time:
    case FieldType::text:
      return true;
  }
  return false;
}

bool is_descending(const FilterConstant& low, const FilterConstant& high) {
  const auto is_above = [&](const FilterValue& value) { return std::is_gt(compare(value, high)); };
  return std::visit(
      [&]<typename T>(const T& value) {
        if constexpr (std::is_same_v<T, AddressPattern>) {
          return false;
        } else if constexpr (std::is_same_v<T, std::string>) {
          return is_above(std::string_view{value});
        } else {
          return is_above(value);
        }
      },
      low);
}

std::partial_ordering compare(const FilterValue& value, const FilterConstant& constant) {
  return std::visit(Comparer{}, value, constant);
}

}  // namespace roce::analyze
