// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Request for communication release, the 232 bytes after the MAD header (IBTA vol. 1, table 112).
struct CmDreq {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  Qpn remote_qpn{};         ///< the receiver's
  std::uint8_t reserved{};
  std::array<std::byte, 220> private_data{};

  friend constexpr bool operator==(const CmDreq&, const CmDreq&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmDreq>{HeaderId::cm_dreq, "cm_dreq", "CM DREQ", 232};
template <>
inline constexpr auto kFields<CmDreq> =
    FieldList{field<&CmDreq::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmDreq::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmDreq::remote_qpn, 64, 24>("remote_qpn", FieldFormat::hex, "Remote QPN"),
              field<&CmDreq::reserved, 88, 8>("reserved", FieldFormat::reserved, "Reserved"),
              field<&CmDreq::private_data, 96, 1760>("private_data", FieldFormat::bytes, "Private Data")};

/// Reply to a request for communication release, the 232 bytes after the MAD header (IBTA vol. 1, table 113).
struct CmDrep {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  std::array<std::byte, 224> private_data{};

  friend constexpr bool operator==(const CmDrep&, const CmDrep&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmDrep>{HeaderId::cm_drep, "cm_drep", "CM DREP", 232};
template <>
inline constexpr auto kFields<CmDrep> =
    FieldList{field<&CmDrep::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmDrep::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmDrep::private_data, 64, 1792>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
