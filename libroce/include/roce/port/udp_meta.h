// SPDX-License-Identifier: BSD-2-Clause
// Translates between the network headers of the endpoint and those of a link that writes them itself (UDP). Inline:
// it is done for each packet.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/link/link.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/types.h"

namespace roce::port {

/// Returns the GID whose octets are those of `address`: IPv6, or IPv4 in the mapped form ::ffff:a.b.c.d.
[[nodiscard]] inline Gid gid_of(const std::array<std::byte, 16>& address) {
  Gid gid;
  std::transform(address.begin(), address.end(), gid.octets.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return gid;
}

/// Returns the address as `link::UdpMeta` and `link::UdpLinkOptions` have it.
[[nodiscard]] inline std::array<std::byte, 16> address_of(const Gid& gid) {
  std::array<std::byte, 16> address{};
  std::transform(gid.octets.begin(), gid.octets.end(), address.begin(),
                 [](std::uint8_t octet) { return std::byte{octet}; });
  return address;
}

/// Returns the network headers of a received packet that a link without them tells about. `timestamp_ns`: time of
/// arrival in ns, by the caller's clock.
[[nodiscard]] inline NetMeta net_of(const link::UdpMeta& udp, std::int64_t timestamp_ns) {
  NetMeta net;
  net.source = gid_of(udp.source);
  net.destination = gid_of(udp.destination);
  net.version = net.destination.is_ipv4_mapped() ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6;
  net.traffic_class = udp.traffic_class;
  net.hop_limit = udp.hop_limit;
  net.udp_source_port = udp.source_port;
  net.timestamp_ns = timestamp_ns;
  return net;
}

/// Returns the headers of a packet to send, as far as such a link writes them.
[[nodiscard]] inline link::UdpMeta udp_of(const NetMeta& net) {
  return {address_of(net.source), address_of(net.destination), net.udp_source_port, net.traffic_class, net.hop_limit};
}

}  // namespace roce::port
