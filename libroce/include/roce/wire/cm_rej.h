// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Reject, the 232 bytes after the MAD header (IBTA vol. 1, table 108). The local communication ID may be 0 when a REQ
/// is rejected.
struct CmRej {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  CmMessageKind message{};
  std::uint8_t reserved1{};
  std::uint8_t info_length{};  ///< valid bytes in `info`
  std::uint8_t reserved2{};
  CmRejReason reason{};
  std::array<std::byte, 72> info{};
  std::array<std::byte, 148> private_data{};

  friend constexpr bool operator==(const CmRej&, const CmRej&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmRej>{HeaderId::cm_rej, "cm_rej", "CM REJ", 232};
template <>
inline constexpr auto kFields<CmRej> =
    FieldList{field<&CmRej::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmRej::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmRej::message, 64, 2>("message", FieldFormat::decimal, "Message REJected", kCmMessageKindNames),
              field<&CmRej::reserved1, 66, 6>("reserved1", FieldFormat::reserved, "Reserved"),
              field<&CmRej::info_length, 72, 7>("info_length", FieldFormat::decimal, "Reject Info Length"),
              field<&CmRej::reserved2, 79, 1>("reserved2", FieldFormat::reserved, "Reserved"),
              field<&CmRej::reason, 80, 16>("reason", FieldFormat::decimal, "Reason", kCmRejReasonNames),
              field<&CmRej::info, 96, 576>("info", FieldFormat::bytes, "Additional Reject Information"),
              field<&CmRej::private_data, 672, 1184>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
