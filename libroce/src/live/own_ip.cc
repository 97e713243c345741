// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/own_ip.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "roce/port/address_text.h"

namespace roce::live {

Result<port::InterfaceAddress> parse_own_ip(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::optional<Gid> gid = port::parse_ip(text.substr(0, slash));
  const std::string bits = slash == std::string::npos ? "" : text.substr(slash + 1);
  const bool is_number = !bits.empty() && bits.size() <= 3 && bits.find_first_not_of("0123456789") == std::string::npos;
  if (!gid || !is_number || std::stoi(bits) > (gid->is_ipv4_mapped() ? 32 : 128)) {
    return cannot(fmt::format(
        "ip {} is not an address with the prefix of its network; write it like 192.0.2.77/24 or 2001:db8::77/64",
        text));
  }
  return port::InterfaceAddress{*gid, static_cast<std::uint8_t>(std::stoi(bits))};
}

Result<std::unique_ptr<port::OwnAddress>> open_own_address(const EndpointOptions& options,
                                                           const port::Interface& interface, Time now) {
  const Result<port::InterfaceAddress> address = parse_own_ip(options.ip);
  if (!address) return tl::unexpected(address.error());
  const port::Result<std::vector<port::Interface>> interfaces = port::list_interfaces();
  if (!interfaces) return cannot(interfaces.error().message);
  for (const port::Interface& host : *interfaces) {
    const auto has_it = [&](const port::InterfaceAddress& row) { return row.gid == address->gid; };
    if (std::any_of(host.addresses.begin(), host.addresses.end(), has_it)) {
      return cannot(
          fmt::format("{0} is an address of interface {1}, which the kernel answers for; to share it, give it as the "
                      "address instead of an ip of its own, or take another ip",
                      to_string(address->gid), host.name));
    }
  }
  port::OwnAddressConfig config;
  config.mac = interface.mac;
  config.ip = address->gid;
  config.prefix_bits = address->prefix_bits;
  if (options.vlan >= 0) config.vlan_id = static_cast<std::uint16_t>(options.vlan);
  if (!options.gateway.empty()) {
    config.gateway = port::parse_ip(options.gateway);
    if (!config.gateway) return cannot(fmt::format("gateway {} is not an IP address", options.gateway));
  }
  port::Result<std::unique_ptr<port::OwnAddress>> own = port::OwnAddress::make(config, now);
  if (!own) return cannot(own.error().message);
  return std::move(*own);
}

}  // namespace roce::live
