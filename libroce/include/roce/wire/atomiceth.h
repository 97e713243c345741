// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Atomic Extended Transport Header, 28 bytes (IBTA vol. 1, 9.3.4).
struct AtomicEth {
  std::uint64_t virtual_address{};  ///< a multiple of 8
  RKey r_key{};
  std::uint64_t swap_or_add{};  ///< compare-and-swap: the value to store; fetch-and-add: the value to add
  std::uint64_t compare{};      ///< compare-and-swap only, else 0

  friend constexpr bool operator==(const AtomicEth&, const AtomicEth&) = default;
};
template <>
inline constexpr HeaderName kHeader<AtomicEth>{HeaderId::atomiceth, "atomiceth", "AtomicETH", 28};
template <>
inline constexpr auto kFields<AtomicEth> =
    FieldList{field<&AtomicEth::virtual_address, 0, 64>("va", FieldFormat::hex, "Virtual Address"),
              field<&AtomicEth::r_key, 64, 32>("r_key", FieldFormat::hex, "R_Key"),
              field<&AtomicEth::swap_or_add, 96, 64>("swap_or_add", FieldFormat::hex, "Swap or Add Data"),
              field<&AtomicEth::compare, 160, 64>("compare", FieldFormat::hex, "Compare Data")};

/// Atomic Acknowledge Extended Transport Header, 8 bytes (IBTA vol. 1, 9.5.3).
struct AtomicAckEth {
  std::uint64_t original{};  ///< the memory before the operation

  friend constexpr bool operator==(const AtomicAckEth&, const AtomicAckEth&) = default;
};
template <>
inline constexpr HeaderName kHeader<AtomicAckEth>{HeaderId::atomicacketh, "atomicacketh", "AtomicAckETH", 8};
template <>
inline constexpr auto kFields<AtomicAckEth> =
    FieldList{field<&AtomicAckEth::original, 0, 64>("original", FieldFormat::hex, "Original Remote Data")};

}  // namespace roce
