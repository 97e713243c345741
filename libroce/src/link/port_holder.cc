// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/port_holder.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace roce::link {

namespace {

constexpr std::uint16_t kRocePort = 4791;

[[nodiscard]] int hold(int family, const sockaddr* address, socklen_t size) {
  const int fd = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  // Datagrams find a receiver, and are dropped before they take memory.
  sock_filter drop_all[] = {{BPF_RET | BPF_K, 0, 0, 0}};
  const sock_fprog filter{1, drop_all};
  const int on = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
  // Otherwise super-frames would be cut before they are dropped.
  (void)::setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  if (family == AF_INET6) (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd, address, size) == 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

PortHolder::PortHolder() {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = __builtin_bswap16(kRocePort);
  ipv4_ = hold(AF_INET, reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4);
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = __builtin_bswap16(kRocePort);
  ipv6_ = hold(AF_INET6, reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6);
}

PortHolder::~PortHolder() {
  if (ipv4_ >= 0) ::close(ipv4_);
  if (ipv6_ >= 0) ::close(ipv6_);
}

}  // namespace roce::link
