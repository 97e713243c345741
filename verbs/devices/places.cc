// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/devices/places.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "roce/port/address_text.h"
#include "roce/port/interfaces.h"
#include "roce/transport/address.h"
#include "roce/wire/path_mtu.h"

namespace roce::verbs {

namespace {

using Interfaces = std::vector<port::Interface>;

/// True if `gid` is an address of `interface`. Linux takes all of 127.0.0.0/8 for the loopback interface's own.
[[nodiscard]] bool has_address(const port::Interface& interface, const Gid& gid) {
  constexpr std::uint8_t loopback_net = 127;
  if (interface.loopback && gid.is_ipv4_mapped() && gid.ipv4().octets[0] == loopback_net) return true;
  return std::ranges::any_of(interface.addresses, [&](const auto& address) { return address.gid == gid; });
}

[[nodiscard]] Place place_of(const port::Interface& interface, const Gid& gid) {
  return {.address = gid,
          .interface = interface.name,
          .interface_index = interface.index,
          .mac = interface.mac,
          .path_mtu = largest_path_mtu(interface.mtu)};
}

[[nodiscard]] tl::expected<std::vector<Place>, std::string> place_named(const std::string& text,
                                                                        const Interfaces& interfaces) {
  const std::optional<Gid> gid = port::parse_ip(text);
  if (!gid) return tl::unexpected("\"" + text + "\" is not an IP address; give one of this machine");
  for (const port::Interface& interface : interfaces) {
    if (interface.up && has_address(interface, *gid)) return std::vector{place_of(interface, *gid)};
  }
  return tl::unexpected("no interface of this machine that is up has the address " + text +
                        "; `ip address` lists those that there are");
}

}  // namespace

std::uint64_t Place::guid() const {
  const Gid gid = mac != MacAddress{} ? transport::link_local_gid(mac) : address;
  std::uint64_t guid = 0;
  std::memcpy(&guid, gid.octets.data() + gid.octets.size() - sizeof guid, sizeof guid);
  return guid;
}

tl::expected<std::vector<Place>, std::string> find_places(const std::optional<std::string>& address) {
  const port::Result<Interfaces> interfaces = port::list_interfaces();
  if (!interfaces) return tl::unexpected(interfaces.error().message);
  if (address) return place_named(*address, *interfaces);
  std::vector<Place> places;
  // Most programs take the first device, and that should not be one that leads nowhere.
  for (const bool loopback : {false, true}) {
    for (const port::Interface& interface : *interfaces) {
      if (interface.loopback != loopback || !interface.up || interface.addresses.empty()) continue;
      places.push_back(place_of(interface, interface.addresses.front().gid));
    }
  }
  return places;
}

}  // namespace roce::verbs
