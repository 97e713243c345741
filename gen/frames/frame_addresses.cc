// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "roce/live/resolve_mac.h"
#include "roce/port/address_text.h"

namespace roce::gen {

namespace {

/// Sets a value unless the user set it. False: the packet does not have it.
bool fill(VaryingPacket& packet, const std::string& name, const std::string& value) {
  if (!packet.spec.get(name)) return false;
  if (std::find(packet.given.begin(), packet.given.end(), name) != packet.given.end()) return true;
  return packet.spec.set(name, value).has_value();
}

}  // namespace

Outcome<void> fill_addresses(std::vector<VaryingPacket>& packets, const port::Interface& interface,
                             const std::string& to) {
  std::optional<Gid> destination;
  std::optional<MacAddress> mac;
  if (!to.empty()) {
    destination = port::parse_ip(to);
    if (!destination) return cannot(fmt::format("\"{}\" is not an IP address", to));
    const live::Result<MacAddress> found = live::resolve_mac(interface, *destination);
    if (!found) return cannot(found.error().message);
    mac = *found;
  }
  const auto own = [&](bool ipv4) -> std::optional<std::string> {
    for (const port::InterfaceAddress& address : interface.addresses) {
      if (address.gid.is_ipv4_mapped() == ipv4) return to_string(address.gid);
    }
    return std::nullopt;
  };
  for (VaryingPacket& packet : packets) {
    fill(packet, "eth.src", to_string(interface.mac));
    if (const auto source = own(true)) fill(packet, "ip.src", *source);
    if (const auto source = own(false)) fill(packet, "ipv6.src", *source);
    if (const auto source = own(destination && destination->is_ipv4_mapped())) fill(packet, "grh.sgid", *source);
    if (!destination) continue;
    fill(packet, "eth.dst", to_string(*mac));
    const bool filled =
        fill(packet, destination->is_ipv4_mapped() ? "ip.dst" : "ipv6.dst", to) || fill(packet, "grh.dgid", to);
    if (!filled) {
      return cannot(fmt::format("a packet for {} needs an {} header or a GRH, and one has {}", to,
                                destination->is_ipv4_mapped() ? "IPv4" : "IPv6", *packet.spec.get("headers")));
    }
  }
  return {};
}

}  // namespace roce::gen
