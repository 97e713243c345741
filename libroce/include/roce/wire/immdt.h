// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Immediate data, 4 bytes (IBTA vol. 1, 9.3.6): the consumer's bytes, shown as a number in network order.
struct ImmDt {
  std::uint32_t data{};

  friend constexpr bool operator==(const ImmDt&, const ImmDt&) = default;
};
template <>
inline constexpr HeaderName kHeader<ImmDt>{HeaderId::immdt, "immdt", "ImmDt", 4};
template <>
inline constexpr auto kFields<ImmDt> =
    FieldList{field<&ImmDt::data, 0, 32>("data", FieldFormat::hex, "Immediate Data")};

}  // namespace roce
