// SPDX-License-Identifier: BSD-2-Clause
#include "link/interface_watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "link/ethernet_interface.h"

namespace roce::link {

int InterfaceWatch::open() {
  FileDescriptor events{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE)};
  if (!events) return errno;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(events.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return errno;
  events_ = std::move(events);
  return 0;
}

bool InterfaceWatch::is_there(int index) const {
  // The contents do not matter, nor do messages lost for lack of room: the interface is looked up afterwards.
  std::array<std::byte, 64> ignored{};
  while (::recv(events_.get(), ignored.data(), ignored.size(), MSG_TRUNC) >= 0 || errno == ENOBUFS || errno == EINTR) {
  }
  return link::is_there(events_.get(), index);
}

}  // namespace roce::link
