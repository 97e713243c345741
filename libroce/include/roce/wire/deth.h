// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Datagram Extended Transport Header, 8 bytes (IBTA vol. 1, 9.3.2).
struct Deth {
  QKey q_key{};
  std::uint8_t reserved{};
  Qpn source_qp{};

  friend constexpr bool operator==(const Deth&, const Deth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Deth>{HeaderId::deth, "deth", "DETH", 8};
template <>
inline constexpr auto kFields<Deth> =
    FieldList{field<&Deth::q_key, 0, 32>("q_key", FieldFormat::hex, "Queue Key"),
              field<&Deth::reserved, 32, 8>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Deth::source_qp, 40, 24>("src_qp", FieldFormat::hex, "Source QP")};

}  // namespace roce
