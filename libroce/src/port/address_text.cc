// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/address_text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace roce::port {

std::optional<Gid> parse_ip(const std::string& text) {
  Gid gid;
  if (::inet_pton(AF_INET6, text.c_str(), gid.octets.data()) == 1) return gid;
  Ipv4Address ipv4;
  if (::inet_pton(AF_INET, text.c_str(), ipv4.octets.data()) == 1) return Gid::from_ipv4(ipv4);
  return std::nullopt;
}

std::optional<MacAddress> parse_mac(const std::string& text) {
  MacAddress mac;
  std::array<unsigned, 6> octets{};
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &octets[0], &octets[1], &octets[2],
                               &octets[3], &octets[4], &octets[5], &used);
  if (read != 6 || static_cast<std::size_t>(used) != text.size()) return std::nullopt;
  std::transform(octets.begin(), octets.end(), mac.octets.begin(),
                 [](unsigned octet) { return static_cast<std::uint8_t>(octet); });
  return mac;
}

}  // namespace roce::port
