// SPDX-License-Identifier: BSD-2-Clause
#include "link/udp_groups.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::link {

namespace {

/// Becomes a member of a group at an interface, or ends that.
[[nodiscard]] bool set_member(const FileDescriptor& socket, const MappedAddress& group, std::uint32_t interface,
                              bool is_member) {
  if (is_v4(group)) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, group.data() + 12, sizeof request.imr_multiaddr);
    request.imr_ifindex = static_cast<int>(interface);
    const int option = is_member ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP;
    return ::setsockopt(socket.get(), IPPROTO_IP, option, &request, sizeof request) == 0;
  }
  ipv6_mreq request{};
  std::memcpy(&request.ipv6mr_multiaddr, group.data(), sizeof request.ipv6mr_multiaddr);
  request.ipv6mr_interface = interface;
  const int option = is_member ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP;
  return ::setsockopt(socket.get(), IPPROTO_IPV6, option, &request, sizeof request) == 0;
}

}  // namespace

LinkResult<void> UdpGroups::join(const MappedAddress& group) {
  const auto known = std::ranges::find(joined_, group, &Group::address);
  if (known != joined_.end()) {
    ++known->users;
    return {};
  }
  const auto cannot = [&](const char* why) {
    return tl::unexpected(LinkError{"cannot join the group " + text(group) + ": " + why});
  };
  if (is_v4(group) != is_v4(endpoint_.local)) return cannot("it is not of the family of the link's address");
  UdpEndpoint at = endpoint_;
  at.local = group;
  auto socket = open_receiver(at, {.interface = {}, .index = at.scope}, buffer_bytes_, PortSharing::of_all);
  if (!socket) return tl::unexpected(socket.error());
  if (super_frames_) (void)allow_super_frames(*socket);
  // Else datagrams of the group come from other interfaces too, once anybody here has joined it there. Before Linux 5.7
  // that takes a privilege.
  const auto interface = static_cast<int>(at.scope);
  (void)::setsockopt(socket->get(), SOL_SOCKET, SO_BINDTOIFINDEX, &interface, sizeof interface);
  if (!set_member(*socket, group, at.scope, true)) return cannot(std::strerror(errno));
  if (!poll_) poll_ = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (!poll_ || ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, socket->get(), &readable) != 0) {
    return cannot(std::strerror(errno));
  }
  joined_.push_back({group, std::move(*socket), 1});
  return {};
}

void UdpGroups::leave(const MappedAddress& group) {
  const auto known = std::ranges::find(joined_, group, &Group::address);
  if (known == joined_.end() || --known->users != 0) return;
  // A child that was forked since has the socket too, so that closing it here would end neither.
  (void)::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, known->socket.get(), nullptr);
  (void)set_member(known->socket, group, endpoint_.scope, false);
  joined_.erase(known);
}

}  // namespace roce::link
