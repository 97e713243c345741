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

/// The type of a field's values; each comment begins with the alternative of `FilterValue` that holds one.
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

/// One value of a field. A view only has to outlive the evaluation.
using FilterValue = std::variant<bool, std::uint64_t, std::int64_t, double, Gid, MacAddress, std::string_view>;

/// The index of a field in its catalogue.
using FieldId = std::uint32_t;

/// A field that expressions may use.
struct FilterField {
  std::string name;
  FieldType type = FieldType::number;
  std::span<const ValueName> value_names{};  ///< for numbers; must outlive the catalogue
  unsigned bits = 64;                        ///< for numbers: literals that do not fit are errors
};

/// The fields that expressions may use. Ids are assigned in the order of `add`, from 0.
class FieldCatalogue {
 public:
  /// Adds a field. Names must be unique: a second field with the same name would never be found.
  FieldId add(FilterField field);

  /// Finds a field by its name; a name that begins with `roce.` is also found without that prefix (`roce.bth.psn`).
  [[nodiscard]] std::optional<FieldId> find(std::string_view name) const;
  [[nodiscard]] const FilterField& operator[](FieldId id) const { return fields_[id]; }
  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  /// Returns at most three names that the author of `name` may have meant, the likeliest first.
  [[nodiscard]] std::vector<std::string> nearest(std::string_view name) const;

 private:
  std::vector<FilterField> fields_;
};

/// Gives an evaluation the values of one packet's fields.
class FieldValues {
 public:
  FieldValues() = default;
  FieldValues(const FieldValues&) = delete;
  FieldValues& operator=(const FieldValues&) = delete;
  virtual ~FieldValues() = default;

  /// Returns value number `index`, from 0, of a field; nothing if there are no more or the packet lacks the field. The
  /// alternative is that of the field's type; a value of another alternative equals nothing.
  [[nodiscard]] virtual std::optional<FilterValue> value(FieldId id, std::size_t index) const = 0;
};

}  // namespace roce::analyze
