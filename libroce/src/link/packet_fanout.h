// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace roce::link {

/// Packet sockets that divide the frames received on an interface (PACKET_FANOUT, Linux packet(7)): a RoCE packet goes
/// to the socket whose number is in the low bits of its DestQP, everything else to the first. Sockets are numbered in
/// the order of joining, and once the interface was down in the order of creation, so both orders have to be the same.
class PacketFanout {
 public:
  /// Makes a group of 2^`shard_bits` sockets, at most 256.
  explicit PacketFanout(std::uint8_t shard_bits) : shard_bits_(shard_bits) {}

  /// Adds a socket that is bound to the interface. Returns 0 or an errno.
  [[nodiscard]] int join(int socket);

 private:
  std::uint8_t shard_bits_;
  std::optional<std::uint16_t> group_{};  // the group's number in the network namespace, once it has a socket
};

}  // namespace roce::link
