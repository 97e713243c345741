// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "roce/wire/packet.h"
#include "roce/wire/types.h"

namespace roce {

/// Number of bytes in front of the data in the buffer of a received datagram.
inline constexpr std::size_t kNetworkHeaderArea = 40;

/// The source and destination of a datagram.
struct NetworkAddresses {
  Gid source{};  ///< IPv4-mapped for IPv4
  Gid destination{};

  friend bool operator==(const NetworkAddresses&, const NetworkAddresses&) = default;
};

/// Returns the network header of a packet as a receiver of datagrams gets it: the GRH or IPv6 header, or 20 zeros and
/// the IPv4 header without options (IBTA annex A17; UD-04, a datagram arrives behind its network header). If the packet
/// was parsed from its BTH, the header is rebuilt from its NetMeta, with an unknown IPv4 identification as 0.
/// `packet` is RoCE and has an ICRC.
[[nodiscard]] std::array<std::byte, kNetworkHeaderArea> network_header_area(const Packet& packet);

/// Reads the first 40 bytes of a received datagram's buffer: a GRH or IPv6 header, or 20 arbitrary bytes and an IPv4
/// header. Empty: neither, or too short.
[[nodiscard]] std::optional<NetworkAddresses> addresses_in(Bytes area);

}  // namespace roce
