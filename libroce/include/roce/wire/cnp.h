// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>

#include "roce/wire/header.h"

namespace roce {

/// The 16 reserved bytes behind the BTH of a congestion notification packet, opcode 0x81 (IBTA annex A17; W-OPC-2).
struct CnpReserved {
  std::array<std::byte, 16> reserved{};

  friend constexpr bool operator==(const CnpReserved&, const CnpReserved&) = default;
};
template <>
inline constexpr HeaderName kHeader<CnpReserved>{HeaderId::cnp, "cnp", "CNP", 16};
template <>
inline constexpr auto kFields<CnpReserved> =
    FieldList{field<&CnpReserved::reserved, 0, 128>("reserved", FieldFormat::bytes, "Reserved")};

}  // namespace roce
