// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/host_membership.h"

#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::live {

Result<HostMembership> HostMembership::join(const std::string& interface, const Gid& group) {
  const bool is_ipv4 = group.is_ipv4_mapped();
  HostMembership membership{::socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  const auto index = static_cast<int>(::if_nametoindex(interface.c_str()));
  int result = 0;
  if (is_ipv4) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, group.ipv4().octets.data(), sizeof request.imr_multiaddr);
    request.imr_ifindex = index;
    result = ::setsockopt(membership.fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
  } else {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.octets.data(), sizeof request.ipv6mr_multiaddr);
    request.ipv6mr_interface = static_cast<unsigned>(index);
    result = ::setsockopt(membership.fd_, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
  }
  if (result == 0) return membership;
  return cannot(fmt::format("cannot join the group {} on {}: {}", to_string(group), interface, std::strerror(errno)));
}

HostMembership::~HostMembership() {
  if (fd_ >= 0) ::close(fd_);
}

HostMembership::HostMembership(HostMembership&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

HostMembership& HostMembership::operator=(HostMembership&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

}  // namespace roce::live
