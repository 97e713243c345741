// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/socket_address.h"

#include <netinet/in.h>

#include <cstring>

namespace roce::conform {

SocketAddress::SocketAddress(const Gid& address, std::uint16_t port) {
  if (address.is_ipv4_mapped()) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&ipv4.sin_addr, address.ipv4().octets.data(), sizeof ipv4.sin_addr);
    std::memcpy(&storage_, &ipv4, sizeof ipv4);
    size_ = sizeof ipv4;
    return;
  }
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  std::memcpy(&ipv6.sin6_addr, address.octets.data(), sizeof ipv6.sin6_addr);
  std::memcpy(&storage_, &ipv6, sizeof ipv6);
  size_ = sizeof ipv6;
}

}  // namespace roce::conform
