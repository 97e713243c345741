// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/interfaces.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "port/interface_messages.h"
#include "port/netlink.h"

namespace roce::port {
namespace {

// A dump has to be requested again if something changed while it was made.
constexpr int kDumpTries = 10;

int dump_interfaces(NetlinkSocket& socket, std::vector<Interface>& interfaces) {
  interfaces.clear();
  NetlinkRequest links{RTM_GETLINK, NLM_F_DUMP, ifinfomsg{}};
  const int error = socket.request(links, [&](const NetlinkMessage& message) {
    if (message.type != RTM_NEWLINK) return;
    if (std::optional<Interface> interface = read_interface(message.body)) interfaces.push_back(std::move(*interface));
  });
  if (error != 0) return error;
  NetlinkRequest addresses{RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}};
  return socket.request(addresses, [&](const NetlinkMessage& message) {
    if (message.type != RTM_NEWADDR) return;
    const auto address = read_address(message.body);
    if (!address) return;
    const auto owner = std::find_if(interfaces.begin(), interfaces.end(),
                                    [&](const Interface& interface) { return interface.index == address->first; });
    if (owner != interfaces.end()) owner->addresses.push_back(address->second);
  });
}

}  // namespace

Result<std::vector<Interface>> list_interfaces() {
  Result<NetlinkSocket> socket = NetlinkSocket::open();
  if (!socket) return tl::unexpected(socket.error());
  std::vector<Interface> interfaces;
  int error = EINTR;
  for (int tries = 0; error == EINTR && tries < kDumpTries; ++tries) error = dump_interfaces(*socket, interfaces);
  if (error == 0) return interfaces;
  return tl::unexpected(
      link::LinkError{std::string{"cannot read the list of network interfaces: "} +
                          (error == EINTR ? "it changed each time it was read; try again" : std::strerror(error)),
                      error == EPERM || error == EACCES});
}

Result<Interface> find_interface(std::string_view name) {
  Result<std::vector<Interface>> interfaces = list_interfaces();
  if (!interfaces) return tl::unexpected(interfaces.error());
  std::string names;
  for (Interface& interface : *interfaces) {
    if (interface.name == name) return std::move(interface);
    names += (names.empty() ? "" : ", ") + interface.name;
  }
  return tl::unexpected(
      link::LinkError{"there is no network interface '" + std::string{name} + "'; there " +
                      (interfaces->empty() ? "is none at all in this network namespace" : "are: " + names)});
}

}  // namespace roce::port
