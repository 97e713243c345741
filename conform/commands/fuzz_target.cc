// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/fuzz_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>
#include <string_view>

#include "command_line/number_text.h"
#include "roce/port/address_text.h"

namespace roce::conform {

namespace {

constexpr std::size_t kGidDigits = 32;

/// Returns the address of 32 hex digits; none if these are not.
std::optional<Gid> gid_of(const std::string& digits) {
  if (digits.size() != kGidDigits) return std::nullopt;
  std::string text;
  for (std::size_t at = 0; at < kGidDigits; at += 4) text += (at == 0 ? "" : ":") + digits.substr(at, 4);
  return port::parse_ip(text);
}

/// Returns the IPv4 address that the kernel writes as a number in its own byte order; none if it is not a number.
std::optional<Gid> ipv4_of(const std::string& digits) {
  const auto number = command_line::read_number<std::uint32_t>("0x" + digits);
  if (!number) return std::nullopt;
  const auto bytes = std::bit_cast<std::array<std::uint8_t, 4>>(*number);
  return port::parse_ip(fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]));
}

/// True if no single host can have the address, or it is this host itself.
bool is_of_no_device(const Gid& address) {
  constexpr std::uint8_t loopback = 127;
  constexpr std::uint8_t groups = 224;
  constexpr std::uint8_t ipv6_groups = 0xFF;
  if (address.is_ipv4_mapped()) {
    const std::uint8_t first = address.ipv4().octets[0];
    return first == 0 || first == loopback || first >= groups;
  }
  return address == Gid{} || address == port::parse_ip("::1") || address.octets[0] == ipv6_groups;
}

}  // namespace

std::vector<Gid> read_gateways(std::istream& route, std::istream& ipv6_route) {
  std::vector<Gid> gateways;
  const auto add = [&](const std::optional<Gid>& gateway) {
    if (gateway && *gateway != Gid{} && *gateway != port::parse_ip("0.0.0.0")) gateways.push_back(*gateway);
  };
  std::string line;
  while (std::getline(route, line)) {
    std::istringstream words{line};
    std::string interface;
    std::string destination;
    std::string gateway;
    if (words >> interface >> destination >> gateway) add(ipv4_of(gateway));
  }
  while (std::getline(ipv6_route, line)) {
    std::istringstream words{line};
    std::array<std::string, 4> before_gateway;
    for (std::string& word : before_gateway) words >> word;
    std::string gateway;
    if (words >> gateway) add(gid_of(gateway));
  }
  return gateways;
}

std::vector<Gid> read_name_servers(std::istream& resolv_conf) {
  std::vector<Gid> servers;
  std::string line;
  while (std::getline(resolv_conf, line)) {
    std::istringstream words{line};
    std::string keyword;
    std::string address;
    if (!(words >> keyword >> address) || keyword != "nameserver") continue;
    // An interface may be behind a link-local address.
    if (const std::optional<Gid> server = port::parse_ip(address.substr(0, address.find('%')))) {
      servers.push_back(*server);
    }
  }
  return servers;
}

Outcome<void> check_target(const DeviceChoice& choice, const std::string& target) {
  if (choice.interface.empty() && !choice.has_agent() && target.empty()) return {};
  if (choice.interface.empty() || !choice.has_agent() || target.empty()) {
    return cannot(
        "a device on a wire needs --target, its address, --interface, the way to it, and --agent, the program beside "
        "it");
  }
  const std::optional<Gid> address = port::parse_ip(target);
  if (!address) {
    return cannot(fmt::format("--target {}: expected an IPv4 or IPv6 address; a name may become that of another host",
                              command_line::quote(target)));
  }
  if (is_of_no_device(*address)) {
    return cannot(fmt::format("--target {}: is not the address of a single other host", target));
  }
  std::ifstream route{"/proc/net/route"};
  std::ifstream ipv6_route{"/proc/net/ipv6_route"};
  const std::vector<Gid> gateways = read_gateways(route, ipv6_route);
  std::ifstream resolv_conf{"/etc/resolv.conf"};
  const std::vector<Gid> name_servers = read_name_servers(resolv_conf);
  const auto is_one_of = [&](const std::vector<Gid>& hosts) {
    return std::ranges::find(hosts, *address) != hosts.end();
  };
  const std::string_view role = is_one_of(gateways) ? "router" : is_one_of(name_servers) ? "name server" : "";
  if (role.empty()) return {};
  return cannot(
      fmt::format("--target {}: is a {} of this host, which others need; test a device of its own", target, role));
}

Outcome<void> check_device(const Device& device, const std::string& target) {
  if (!device.ways) return {};
  const Gid address = device.ways->at(0).port().device_gid;
  if (port::parse_ip(target) == address) return {};
  return cannot(fmt::format("the agent is that of another device: expected {}, found {}", target, to_string(address)));
}

}  // namespace roce::conform
