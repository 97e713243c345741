// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// XRC Extended Transport Header, 4 bytes (IBTA vol. 1, annex A14).
struct XrcEth {
  std::uint8_t reserved{};
  XrcSrqn xrc_srq{};

  friend constexpr bool operator==(const XrcEth&, const XrcEth&) = default;
};
template <>
inline constexpr HeaderName kHeader<XrcEth>{HeaderId::xrceth, "xrceth", "XRCETH", 4};
template <>
inline constexpr auto kFields<XrcEth> =
    FieldList{field<&XrcEth::reserved, 0, 8>("reserved", FieldFormat::reserved, "Reserved"),
              field<&XrcEth::xrc_srq, 8, 24>("xrcsrq", FieldFormat::hex, "XRC SRQ")};

}  // namespace roce
