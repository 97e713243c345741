// SPDX-License-Identifier: BSD-2-Clause
#include "link/ethernet_interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "link/link_failure.h"
#include "roce/link/file_descriptor.h"

namespace roce::link {

LinkResult<EthernetInterface> find_ethernet_interface(const std::string& name) {
  const FileDescriptor query{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  EthernetInterface found;
  found.name = name;
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name) {
    return tl::unexpected(LinkError{"\"" + name + "\" is not the name of an interface; roce-gen gids lists them"});
  }
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (::ioctl(query.get(), SIOCGIFINDEX, &request) != 0) {
    return link_failure("cannot find interface " + name, errno, "roce-gen gids lists the interfaces that there are",
                        {});
  }
  found.index = request.ifr_ifindex;
  if (::ioctl(query.get(), SIOCGIFHWADDR, &request) != 0)
    return link_failure("cannot ask " + name + " for its address", errno, {}, {});
  if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER && request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK) {
    return tl::unexpected(LinkError{"interface " + name + " is not an Ethernet; take one that is, or --link udp"});
  }
  std::memcpy(found.mac.data(), request.ifr_hwaddr.sa_data, found.mac.size());
  if (::ioctl(query.get(), SIOCGIFMTU, &request) != 0)
    return link_failure("cannot ask " + name + " for its MTU", errno, {}, {});
  found.mtu = static_cast<std::size_t>(request.ifr_mtu);
  if (::ioctl(query.get(), SIOCGIFFLAGS, &request) != 0)
    return link_failure("cannot ask " + name + " for its state", errno, {}, {});
  if ((request.ifr_flags & IFF_UP) == 0) {
    return tl::unexpected(LinkError{"interface " + name + " is down; ip link set " + name + " up"});
  }
  return found;
}

unsigned receive_queues(const std::string& name) {
  const FileDescriptor query{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_data = reinterpret_cast<char*>(&channels);
  // A driver that does not support the query has one queue.
  if (::ioctl(query.get(), SIOCETHTOOL, &request) != 0) return 1;
  return std::max(1U, channels.rx_count + channels.combined_count);
}

bool is_there(int socket, int index) {
  ifreq request{};
  request.ifr_ifindex = index;
  return ::ioctl(socket, SIOCGIFNAME, &request) == 0;
}

}  // namespace roce::link
