// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Ready to use, the 232 bytes after the MAD header (IBTA vol. 1, table 111).
struct CmRtu {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  std::array<std::byte, 224> private_data{};

  friend constexpr bool operator==(const CmRtu&, const CmRtu&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmRtu>{HeaderId::cm_rtu, "cm_rtu", "CM RTU", 232};
template <>
inline constexpr auto kFields<CmRtu> =
    FieldList{field<&CmRtu::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmRtu::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmRtu::private_data, 64, 1792>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
