// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Message receipt acknowledgement, the 232 bytes after the MAD header (IBTA vol. 1, table 107).
struct CmMra {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  CmMessageKind message{};
  std::uint8_t reserved1{};
  std::uint8_t service_timeout{};  ///< 4.096 µs × 2^n
  std::uint8_t reserved2{};
  std::array<std::byte, 222> private_data{};

  friend constexpr bool operator==(const CmMra&, const CmMra&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmMra>{HeaderId::cm_mra, "cm_mra", "CM MRA", 232};
template <>
inline constexpr auto kFields<CmMra> =
    FieldList{field<&CmMra::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmMra::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmMra::message, 64, 2>("message", FieldFormat::decimal, "Message MRAed", kCmMessageKindNames),
              field<&CmMra::reserved1, 66, 6>("reserved1", FieldFormat::reserved, "Reserved"),
              field<&CmMra::service_timeout, 72, 5>("service_timeout", FieldFormat::decimal, "Service Timeout"),
              field<&CmMra::reserved2, 77, 3>("reserved2", FieldFormat::reserved, "Reserved"),
              field<&CmMra::private_data, 80, 1776>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
