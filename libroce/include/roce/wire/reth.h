// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// RDMA Extended Transport Header, 16 bytes (IBTA vol. 1, 9.3.3).
struct Reth {
  std::uint64_t virtual_address{};
  RKey r_key{};
  std::uint32_t dma_length{};  ///< bytes of the whole message

  friend constexpr bool operator==(const Reth&, const Reth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Reth>{HeaderId::reth, "reth", "RETH", 16};
template <>
inline constexpr auto kFields<Reth> =
    FieldList{field<&Reth::virtual_address, 0, 64>("va", FieldFormat::hex, "Virtual Address"),
              field<&Reth::r_key, 64, 32>("r_key", FieldFormat::hex, "R_Key"),
              field<&Reth::dma_length, 96, 32>("dma_length", FieldFormat::decimal, "DMA Length")};

}  // namespace roce
