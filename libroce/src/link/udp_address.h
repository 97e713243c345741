// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

/// An IPv6 address, or an IPv4 address in the mapped form ::ffff:a.b.c.d.
using MappedAddress = std::array<std::byte, 16>;

/// Either kind of socket address.
union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

[[nodiscard]] bool is_v4(const MappedAddress& address);
/// True for link-local addresses, of one station or of a group.
[[nodiscard]] bool is_link_local(const MappedAddress& address);
[[nodiscard]] MappedAddress mapped(const in_addr& address);
[[nodiscard]] MappedAddress mapped(const in6_addr& address);
/// Returns the address as people write it; IPv4 without the mapping.
[[nodiscard]] std::string text(const MappedAddress& address);
/// Fills `out` and returns its length in bytes. `scope` is the interface's index, for link-local addresses.
socklen_t store(const MappedAddress& address, std::uint16_t port, std::uint32_t scope, SocketAddress& out);

/// The interface of an address, and what it means for UDP.
struct AddressOwner {
  std::string interface;        ///< empty if none was found
  std::uint32_t index = 0;      ///< its index
  std::size_t max_payload = 0;  ///< longest UDP payload that goes out whole, in bytes
};

/// Finds the interface that has the address. Errors: `interface` names one that does not exist, or one that does not
/// have the address. Finding none is not an error: the kernel may accept addresses that no interface lists.
[[nodiscard]] LinkResult<AddressOwner> find_owner(const MappedAddress& address, const std::string& interface);

}  // namespace roce::link
