// SPDX-License-Identifier: BSD-2-Clause
// Questions to the kernel's routes and neighbour table, and the request to resolve an address.
#pragma once

#include <cstdint>
#include <optional>

#include "port/netlink.h"
#include "roce/wire/types.h"

namespace roce::port {

/// Where the kernel would send a packet.
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

/// The route to `ip` out of the interface of this index.
[[nodiscard]] Route find_route(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);

/// An entry of the neighbour table.
struct NeighbourEntry {
  std::uint32_t interface_index = 0;
  Gid ip{};
  std::uint16_t state = 0;  ///< NUD_…; NUD_NONE if there is no entry
  std::optional<MacAddress> mac{};

  /// The MAC address, in the states in which packets go to it.
  [[nodiscard]] std::optional<MacAddress> usable_mac() const;
  /// The address is usable, and whether it still holds is not known.
  [[nodiscard]] bool is_stale() const;
  /// The kernel looks for it right now.
  [[nodiscard]] bool is_in_search() const;
};

/// What an RTM_NEWNEIGH or RTM_DELNEIGH message says. None if it is malformed, or neither of IPv4 nor of IPv6.
[[nodiscard]] std::optional<NeighbourEntry> read_neighbour(Bytes body);

[[nodiscard]] NeighbourEntry find_neighbour(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);

/// Makes the kernel look for an address on the wire: as if a packet had been sent there. Returns 0 or an errno, EPERM
/// where the program may not.
[[nodiscard]] int resolve_by_request(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index);
/// The same by sending an empty datagram to port 9 (discard), which everybody may.
[[nodiscard]] int resolve_by_datagram(const Gid& ip, std::uint32_t interface_index);

}  // namespace roce::port
