// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_fields.h"
#include "analyze/filter/filter_lexer.h"

namespace roce::analyze {

/// A value of a filter expression, in the form in which it is compared. Strings hold texts and bytes.
using FilterConstant = std::variant<bool, std::uint64_t, std::int64_t, double, AddressPattern, std::string>;

/// Reads a word or a text as a value of `field`. Error: a description of the field's values, and similarly spelt names
/// of values.
[[nodiscard]] tl::expected<FilterConstant, FilterError> parse_constant(const FilterField& field,
                                                                       const FilterToken& token);

/// Returns the values of a number whose names contain `text`, ignoring case.
[[nodiscard]] std::vector<std::uint64_t> values_named_like(const FilterField& field, std::string_view text);

/// True if values of the type are ordered, false if they can only be equal or not.
[[nodiscard]] bool has_order(FieldType type);

/// True if the range from `low` to `high`, both of one field, is empty.
[[nodiscard]] bool is_descending(const FilterConstant& low, const FilterConstant& high);

/// Compares a value with a constant of its field; `unordered` if neither is less, or if the types differ. An address is
/// `equivalent` to a network that contains it.
[[nodiscard]] std::partial_ordering compare(const FilterValue& value, const FilterConstant& constant);

}  // namespace roce::analyze
