// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/bth.h"
#include "roce/wire/packet.h"

namespace roce::transport {

/// The destination QP of datagrams to multicast groups (IBTA 10.5).
inline constexpr Qpn kMulticastQpn{0xFF'FFFF};

/// Returns the shard (`DeviceConfig::shard`) of a queue pair among the 2^`shard_bits` devices of one port:
/// the low bits of its QPN. QP0, QP1 and the QPN of all multicast datagrams are in shard 0. `shard_bits` is 0 … 8.
[[nodiscard]] constexpr std::uint8_t shard_of(Qpn qpn, std::uint8_t shard_bits) {
  constexpr std::uint32_t gsi = 1;
  if (qpn.value() <= gsi || qpn == kMulticastQpn) return 0;
  return static_cast<std::uint8_t>(qpn.value() & ((1U << shard_bits) - 1));
}

/// Returns the shard that a frame is for: that of its DestQP. 0 for all that is not RoCE: ARP, PAUSE, frames
/// that are too short. A super-frame goes to the shard of its first packet; all of its packets are for one queue pair.
[[nodiscard]] inline std::uint8_t shard_of(const Packet& packet, std::uint8_t shard_bits) {
  return packet.is_roce() ? shard_of(packet.bth().dest_qp, shard_bits) : std::uint8_t{0};
}

}  // namespace roce::transport
