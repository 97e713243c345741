// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <string>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "analyze/filter.h"
#include "analyze/filter_fields.h"
#include "analyze/filter_lexer.h"

namespace roce::analyze {

/// A value as a filter expression has it, in the form that is compared. Strings are those of texts and of bytes.
using FilterConstant = std::variant<bool, std::uint64_t, std::int64_t, double, AddressPattern, std::string>;

/// Reads a word or a text as a value of `field`. Error: what the field's values look like, with names of values that
/// are spelt alike.
[[nodiscard]] tl::expected<FilterConstant, FilterError> parse_constant(const FilterField& field,
                                                                       const FilterToken& token);

/// The values of a number whose names hold `text`, ignoring case.
[[nodiscard]] std::vector<std::uint64_t> values_named_like(const FilterField& field, std::string_view text);

/// Whether values of the type have an order, and not only are equal or not.
[[nodiscard]] bool has_order(FieldType type);

/// Whether nothing lies in the range from `low` to `high`, both of one field.
[[nodiscard]] bool is_descending(const FilterConstant& low, const FilterConstant& high);

/// How a value stands to a constant of its field; `unordered` when neither is less, or they are of different types. An
/// address is `equivalent` to a network that it lies in.
[[nodiscard]] std::partial_ordering compare(const FilterValue& value, const FilterConstant& constant);

}  // namespace roce::analyze
