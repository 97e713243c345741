// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/interface_traffic.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "port/netlink.h"

namespace roce::port {

Result<InterfaceTraffic> interface_traffic(std::uint32_t index) {
  Result<NetlinkSocket> socket = NetlinkSocket::open();
  if (!socket) return tl::unexpected(socket.error());
  ifinfomsg which{};
  which.ifi_index = static_cast<int>(index);
  NetlinkRequest link{RTM_GETLINK, 0, which};
  std::optional<InterfaceTraffic> traffic;
  const int error = socket->request(link, [&](const NetlinkMessage& message) {
    const auto statistics = find_attribute(message.body, kAttributesAt<ifinfomsg>, IFLA_STATS64);
    const auto counters = statistics ? read_header<rtnl_link_stats64>(*statistics) : std::nullopt;
    if (counters) {
      traffic = InterfaceTraffic{counters->tx_packets, counters->tx_bytes, counters->tx_dropped + counters->tx_errors};
    }
  });
  if (traffic) return *traffic;
  return tl::unexpected(link::LinkError{"cannot read the counters of the interface with index " +
                                            std::to_string(index) + ": " + std::strerror(error != 0 ? error : ENODATA),
                                        error == EPERM || error == EACCES});
}

}  // namespace roce::port
