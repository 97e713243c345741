// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/bth.h"
#include "roce/wire/packet.h"

namespace roce::transport {

/// Where datagrams to multicast groups go (IBTA 10.5).
inline constexpr Qpn kMulticastQpn{0xFF'FFFF};

/// Which of 2^`shard_bits` devices behind one port has a queue pair (`DeviceConfig::shard`): the low bits of its
/// number. QP0, QP1 and the number that all multicast datagrams go to are in shard 0. `shard_bits` is 0 … 8.
[[nodiscard]] constexpr std::uint8_t shard_of(Qpn qpn, std::uint8_t shard_bits) {
  constexpr std::uint32_t gsi = 1;
  if (qpn.value() <= gsi || qpn == kMulticastQpn) return 0;
  return static_cast<std::uint8_t>(qpn.value() & ((1U << shard_bits) - 1));
}

/// Which of these devices a frame is for: that which has its DestQP. 0 for all that is no RoCE: ARP, PAUSE, what is
/// too short. A super-frame is for the device of its first packet; all of them are for one queue pair.
[[nodiscard]] inline std::uint8_t shard_of(const Packet& packet, std::uint8_t shard_bits) {
  return packet.is_roce() ? shard_of(packet.bth().dest_qp, shard_bits) : std::uint8_t{0};
}

}  // namespace roce::transport
