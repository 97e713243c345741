// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace roce {

/// Bytes of the ICRC at the end of a packet.
inline constexpr std::uint32_t kIcrcSize = 4;
/// True for a path MTU that exists: 256, 512, 1024, 2048 or 4096 bytes.
[[nodiscard]] constexpr bool is_path_mtu(std::uint32_t bytes) {
  return bytes >= 256 && bytes <= 4096 && std::has_single_bit(bytes);
}
/// The longest message in bytes (IBTA vol. 1, 9.7.2).
inline constexpr std::uint32_t kMaxMessage = 1U << 31;

/// The bits of a TOS or traffic class that are ECN, and two of their values (RFC 3168).
inline constexpr std::uint8_t kEcnMask = 3;
inline constexpr std::uint8_t kEcnEct0 = 2;
inline constexpr std::uint8_t kEcnCe = 3;

/// The bits of a TCI that are the VLAN id (IEEE 802.1Q); the priority is in the three bits from 13 on.
inline constexpr std::uint16_t kVlanIdMask = 0x0FFF;
inline constexpr unsigned kVlanPriorityShift = 13;

}  // namespace roce
