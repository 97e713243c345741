// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace roce::link {

/// Packet sockets that divide among them what an interface receives (PACKET_FANOUT, Linux packet(7)): a RoCE packet
/// comes to the socket whose number is in the low bits of its DestQP, all else to the first. They are numbered as they
/// join, and after the interface was down as they were made, so that both has to be the same order.
class PacketFanout {
 public:
  /// For 2^`shard_bits` sockets, at most 256.
  explicit PacketFanout(std::uint8_t shard_bits) : shard_bits_(shard_bits) {}

  /// Adds a socket that is bound to the interface. Returns 0 or an errno.
  [[nodiscard]] int join(int socket);

 private:
  std::uint8_t shard_bits_;
  std::optional<std::uint16_t> group_{};  // its number in the network namespace, once there is a socket in it
};

}  // namespace roce::link
