// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Invalidate Extended Transport Header, 4 bytes (IBTA vol. 1, 9.3.7).
struct Ieth {
  RKey r_key{};

  friend constexpr bool operator==(const Ieth&, const Ieth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Ieth>{HeaderId::ieth, "ieth", "IETH", 4};
template <>
inline constexpr auto kFields<Ieth> =
    FieldList{field<&Ieth::r_key, 0, 32>("r_key", FieldFormat::hex, "R_Key to invalidate")};

}  // namespace roce
