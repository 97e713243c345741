// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Reliable Datagram Extended Transport Header, 4 bytes (IBTA vol. 1, 9.3.1).
struct Rdeth {
  std::uint8_t reserved{};
  Eecn ee_context{};

  friend constexpr bool operator==(const Rdeth&, const Rdeth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Rdeth>{HeaderId::rdeth, "rdeth", "RDETH", 4};
template <>
inline constexpr auto kFields<Rdeth> =
    FieldList{field<&Rdeth::reserved, 0, 8>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Rdeth::ee_context, 8, 24>("ee_context", FieldFormat::hex, "EE Context")};

}  // namespace roce
