// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// The memory that a FLUSH covers (IBTA vol. 1, annex A19).
enum class FlushSelectivity : std::uint8_t { range = 0, memory_region = 1 };

inline constexpr std::array kFlushSelectivityNames{ValueName{0, "range"}, ValueName{1, "memory region"}};

/// FLUSH Extended Transport Header, 4 bytes (IBTA vol. 1, annex A19).
struct Feth {
  std::uint32_t reserved{};
  FlushSelectivity selectivity{};
  std::uint8_t reserved_placement{};
  bool persistence{};
  bool visibility{};

  friend constexpr bool operator==(const Feth&, const Feth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Feth>{HeaderId::feth, "feth", "FETH", 4};
template <>
inline constexpr auto kFields<Feth> = FieldList{
    field<&Feth::reserved, 0, 26>("reserved", FieldFormat::reserved, "Reserved"),
    field<&Feth::selectivity, 26, 2>("sel", FieldFormat::decimal, "Selectivity Level", kFlushSelectivityNames),
    field<&Feth::reserved_placement, 28, 2>("reserved_plt", FieldFormat::reserved, "Reserved placement bits"),
    field<&Feth::persistence, 30, 1>("persistence", FieldFormat::boolean, "Placement: persistence"),
    field<&Feth::visibility, 31, 1>("visibility", FieldFormat::boolean, "Placement: global visibility")};

}  // namespace roce
