// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "roce/wire/header.h"
#include "roce/wire/types.h"

namespace roce::analyze {

/// What the values of a field are; behind each the alternative of `FilterValue` that holds one.
enum class FieldType : std::uint8_t {
  presence,  ///< bool: a header. Only its bare name is a filter
  boolean,   ///< bool
  number,    ///< std::uint64_t
  integer,   ///< std::int64_t
  real,      ///< double
  duration,  ///< std::int64_t, nanoseconds
  time,      ///< std::int64_t, nanoseconds since 1970
  address,   ///< Gid; IPv4 in mapped form
  mac,       ///< MacAddress
  bytes,     ///< std::string_view of the bytes
  text,      ///< std::string_view
};

/// One value of a field. A view must outlive the evaluation only.
using FilterValue = std::variant<bool, std::uint64_t, std::int64_t, double, Gid, MacAddress, std::string_view>;

/// A field's place in its catalogue.
using FieldId = std::uint32_t;

/// A field that expressions may name.
struct FilterField {
  std::string name;
  FieldType type = FieldType::number;
  std::span<const ValueName> value_names{};  ///< of numbers; must outlive the catalogue
  unsigned bits = 64;                        ///< of numbers: literals that do not fit are errors
};

/// The fields that expressions may name. Ids are given in the order of `add`, from 0.
class FieldCatalogue {
 public:
  /// Names are unique; a second field of a name would never be found.
  FieldId add(FilterField field);

  /// By name; a name behind `roce.` is also found without it (`roce.bth.psn`).
  [[nodiscard]] std::optional<FieldId> find(std::string_view name) const;
  [[nodiscard]] const FilterField& operator[](FieldId id) const { return fields_[id]; }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  /// At most three names that somebody who wrote `name` may have meant, the likeliest first.
  [[nodiscard]] std::vector<std::string> nearest(std::string_view name) const;

 private:
  std::vector<FilterField> fields_;
};

/// The values of one packet's fields, as an evaluation asks for them.
class FieldValues {
 public:
  FieldValues() = default;
  FieldValues(const FieldValues&) = delete;
  FieldValues& operator=(const FieldValues&) = delete;
  virtual ~FieldValues() = default;

  /// Value number `index`, from 0, of a field; none when it has no more, or the packet does not have the field. The
  /// alternative is that of the field's type; a value of another one equals nothing.
  [[nodiscard]] virtual std::optional<FilterValue> value(FieldId id, std::size_t index) const = 0;
};

}  // namespace roce::analyze
