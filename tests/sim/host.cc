// SPDX-License-Identifier: BSD-2-Clause
#include "sim/host.h"

#include <algorithm>

namespace roce::sim {

namespace {

using transport::GidEntry;
using transport::GidType;

Gid ipv4_gid(std::uint8_t subnet, std::uint8_t host) {
  return Gid::from_ipv4({{10, 0, subnet, host}});
}

/// Returns an address in 2001:db8::/32 (RFC 3849).
Gid ipv6_gid(std::uint8_t subnet, std::uint8_t host) {
  Gid gid;
  gid.octets = {0x20, 0x01, 0x0D, 0xB8, 0, subnet};
  gid.octets[15] = host;
  return gid;
}

transport::DeviceConfig config_of(std::uint8_t host, const Host::Options& options) {
  transport::DeviceConfig config;
  config.mac = {{0x02, 0, 0, 0, 0, host}};
  config.port_mtu = options.port_mtu;
  config.profile = options.profile;
  config.gids = {GidEntry{.gid = transport::link_local_gid(config.mac), .type = GidType::roce_v1},
                 GidEntry{.gid = ipv4_gid(0, host)},
                 GidEntry{.gid = ipv6_gid(0, host)},
                 GidEntry{.gid = ipv6_gid(2, host), .type = GidType::roce_v1, .vlan_id = kVlan},
                 GidEntry{.gid = ipv4_gid(1, host), .vlan_id = kVlan},
                 GidEntry{.gid = ipv6_gid(1, host), .vlan_id = kVlan}};
  if (options.adjust) options.adjust(config);
  return config;
}

}  // namespace

Host::Host(SimNetwork& network, const Options& options) : network_(&network), node_(0) {
  const auto host = static_cast<std::uint8_t>(network.node_count() + 1);
  node_ = network.add_device(config_of(host, options), options.caps, options.congestion);
}

std::uint16_t Host::gid_index(Path path) {
  std::uint16_t index = 1;
  if (path.version == RoceVersion::v1) index = 0;
  if (path.version == RoceVersion::v2_ipv6) index = 2;
  return static_cast<std::uint16_t>(index + (path.vlan ? 3 : 0));
}

Gid Host::gid(Path path) const {
  return device().config().gids.at(gid_index(path)).gid;
}

std::size_t Host::count_events(transport::EventType type) const {
  return static_cast<std::size_t>(std::ranges::count(events(), type, &transport::Event::type));
}

}  // namespace roce::sim
