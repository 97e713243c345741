// SPDX-License-Identifier: BSD-2-Clause
#include "link/udp_groups.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::link {

namespace {

/// Becomes a member of a group at an interface, and of none that others here have joined.
[[nodiscard]] bool become_member(const FileDescriptor& socket, const MappedAddress& group, std::uint32_t interface) {
  if (is_v4(group)) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, group.data() + 12, sizeof request.imr_multiaddr);
    request.imr_ifindex = static_cast<int>(interface);
    const int all = 0;
    return ::setsockopt(socket.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) == 0 &&
           ::setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_ALL, &all, sizeof all) == 0;
  }
  ipv6_mreq request{};
  std::memcpy(&request.ipv6mr_multiaddr, group.data(), sizeof request.ipv6mr_multiaddr);
  request.ipv6mr_interface = interface;
  return ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) == 0;
}

}  // namespace

LinkResult<void> UdpGroups::join(const MappedAddress& group) {
  const auto known = std::ranges::find(joined_, group, &Group::address);
  if (known != joined_.end()) {
    ++known->users;
    return {};
  }
  const auto cannot = [&] {
    return tl::unexpected(LinkError{"cannot join the group " + text(group) + ": " + std::strerror(errno)});
  };
  UdpEndpoint at = endpoint_;
  at.local = group;
  auto socket = open_receiver(at, {.interface = {}, .index = at.scope}, buffer_bytes_, true);
  if (!socket) return tl::unexpected(socket.error());
  if (super_frames_) (void)allow_super_frames(*socket);
  if (!become_member(*socket, group, at.scope)) return cannot();
  if (!poll_) poll_ = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (!poll_ || ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket->get(), &readable) != 0) return cannot();
  joined_.push_back({group, std::move(*socket), 1});
  return {};
}

void UdpGroups::leave(const MappedAddress& group) {
  const auto known = std::ranges::find(joined_, group, &Group::address);
  if (known != joined_.end() && --known->users == 0) joined_.erase(known);
}

}  // namespace roce::link
