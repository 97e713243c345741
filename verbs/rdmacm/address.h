// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>

#include "roce/wire/types.h"

namespace roce::verbs {

/// Returns the address of a sockaddr of IPv4 (in the mapped form) or IPv6; empty for other families.
[[nodiscard]] std::optional<Gid> gid_of(const sockaddr& address);
/// True for the address of all interfaces.
[[nodiscard]] bool is_wildcard(const Gid& address);
/// True for an address of a multicast group.
[[nodiscard]] bool is_group(const Gid& address);
/// True for an address at which there are all devices if there is none of its own: the wildcard, and the loopback
/// addresses, as Linux has it (cma_any_addr() of drivers/infiniband/core/cma.c).
[[nodiscard]] bool means_all(const Gid& address);
/// Returns the port of a sockaddr of IPv4 or IPv6; 0 for other families.
[[nodiscard]] std::uint16_t port_of(const sockaddr& address);
void set_port(sockaddr& address, std::uint16_t port);
/// Writes an address as a sockaddr of its family.
void write_address(const Gid& address, std::uint16_t port, sockaddr_storage& out);
/// Returns the size of a sockaddr of this family; 0 for one that is neither IPv4 nor IPv6.
[[nodiscard]] socklen_t size_of(const sockaddr& address);

/// Returns the address of this machine from which the kernel would send to `destination`; empty if there is no route.
[[nodiscard]] std::optional<Gid> source_for(const sockaddr& destination);
/// True if an interface of this machine has the address of a sockaddr of IPv4 or IPv6.
[[nodiscard]] bool is_of_this_machine(const sockaddr& address);

}  // namespace roce::verbs
