// SPDX-License-Identifier: BSD-2-Clause
// Queries of the kernel's routes and neighbour table, and the request to resolve an address.
#pragma once

#include <cstdint>
#include <optional>

#include "port/netlink.h"
#include "roce/wire/types.h"

namespace roce::port {

/// The way that a packet would take from the kernel.
struct Route {
  enum class Kind : std::uint8_t {
    none,       ///< nowhere
    local,      ///< to this host itself
    broadcast,  ///< to everybody on the wire
    unicast,    ///< to `next_hop`
  };
  Kind kind = Kind::none;
  Gid next_hop{};  ///< the destination itself, or the router on the way to it
};

/// Returns the route to `ip` out of the interface with this index.
[[nodiscard]] Route find_route(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);

/// An entry of the neighbour table.
struct NeighbourEntry {
  std::uint32_t interface_index = 0;
  Gid ip{};
  std::uint16_t state = 0;  ///< NUD_…; NUD_NONE if there is no entry
  std::optional<MacAddress> mac{};

  /// Returns the MAC address if packets go to it in this state.
  [[nodiscard]] std::optional<MacAddress> usable_mac() const;
  /// True if the address is usable, but may not be valid any more.
  [[nodiscard]] bool is_stale() const;
  /// True if the kernel is looking for the address at the moment.
  [[nodiscard]] bool is_in_search() const;
};

/// Reads an RTM_NEWNEIGH or RTM_DELNEIGH message; nullopt if it is malformed, or neither of IPv4 nor of IPv6.
[[nodiscard]] std::optional<NeighbourEntry> read_neighbour(Bytes body);

[[nodiscard]] NeighbourEntry find_neighbour(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);

/// Makes the kernel look for an address on the wire, as if a packet had been sent there. Returns 0 or an errno: EPERM
/// if the program is not allowed to.
[[nodiscard]] int resolve_by_request(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);
/// Does this with an empty datagram to port 9 (discard), which every user may send.
[[nodiscard]] int resolve_by_datagram(const Gid& ip, std::uint32_t interface_index);

}  // namespace roce::port
