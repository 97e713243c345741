// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "roce/link/link.h"
#include "roce/link/udp_link.h"

namespace roce::link {

/// UDP port 4791 of one address, divided among 256 sockets, which may be given to other processes: the kernel puts each
/// datagram into the socket of its shard, the low byte of its DestQP. Datagrams to QP0, QP1 and multicast groups go to
/// shard 0. No privilege is needed.
///
/// A socket is lent or not. One that is not lent discards what comes. The group keeps a descriptor of each, so that
/// none leaves its place when a process that had it ends.
class UdpPortGroup {
 public:
  /// Bits of a QPN that are its shard (`transport::DeviceConfig::shard_bits`).
  static constexpr std::uint8_t kShardBits = 8;

  /// Opens all sockets; `segmentation`, `max_source_ports` and `receiver` of the options count for nothing. Errors: as
  /// of `UdpLink::open`; no place for 256 open files.
  [[nodiscard]] static LinkResult<UdpPortGroup> open(const UdpLinkOptions& options);
  UdpPortGroup(UdpPortGroup&& other) noexcept;
  UdpPortGroup& operator=(UdpPortGroup&& other) noexcept;
  ~UdpPortGroup();

  /// Lets a socket receive, with nothing in it that came before. Returns its descriptor, to be duplicated for
  /// `UdpLinkOptions::receiver`; it is the group's. Error: the kernel refuses.
  [[nodiscard]] LinkResult<int> lend(std::uint8_t shard);
  /// Makes a socket discard what waits in it and what comes, whoever may have it.
  void take_back(std::uint8_t shard);

 private:
  struct State;
  explicit UdpPortGroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
