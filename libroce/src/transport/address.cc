// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/address.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace roce::transport {
namespace {

constexpr std::array<std::uint8_t, 8> kLinkLocalPrefix{0xFE, 0x80};
constexpr std::uint8_t kUniversalBit = 0x02;
constexpr std::uint32_t kFlowLabelMask = 0xF'FFFF;
// Ports from 0xC000 on are IANA's dynamic range, which leaves 14 bits to tell flows apart.
constexpr std::uint32_t kFirstPort = 0xC000;
constexpr std::uint32_t kPortMask = 0x3FFF;
constexpr unsigned kPortBits = 14;

bool is_ipv4_multicast(const Gid& gid) {
  return gid.is_ipv4_mapped() && (gid.octets[12] & 0xF0) == 0xE0;
}

}  // namespace

// NET-05 (the default GID: fe80::/64 and the EUI-64 of the MAC address)
Gid link_local_gid(const MacAddress& mac) {
  const std::array<std::uint8_t, 6>& m = mac.octets;
  Gid gid;
  std::copy(kLinkLocalPrefix.begin(), kLinkLocalPrefix.end(), gid.octets.begin());
  const std::array<std::uint8_t, 8> eui64{
      static_cast<std::uint8_t>(m[0] ^ kUniversalBit), m[1], m[2], 0xFF, 0xFE, m[3], m[4], m[5]};
  std::copy(eui64.begin(), eui64.end(), gid.octets.begin() + 8);
  return gid;
}

std::optional<MacAddress> mac_of_link_local(const Gid& gid) {
  const std::array<std::uint8_t, 16>& g = gid.octets;
  const MacAddress mac{{static_cast<std::uint8_t>(g[8] ^ kUniversalBit), g[9], g[10], g[13], g[14], g[15]}};
  return link_local_gid(mac) == gid ? std::optional{mac} : std::nullopt;
}

bool is_multicast(const Gid& gid) {
  return gid.octets[0] == 0xFF || is_ipv4_multicast(gid);
}

MacAddress multicast_mac(const Gid& gid) {
  const std::array<std::uint8_t, 16>& g = gid.octets;
  // NET-06 (the Ethernet address of a multicast group)
  if (is_ipv4_multicast(gid)) {
    // Only 23 bits of the group fit, so 32 groups share one Ethernet address.
    return MacAddress{{0x01, 0x00, 0x5E, static_cast<std::uint8_t>(g[13] & 0x7F), g[14], g[15]}};
  }
  return MacAddress{{0x33, 0x33, g[12], g[13], g[14], g[15]}};
}

// NET-03 (UDP source port: 0xC000 and a fold of the flow label)
std::uint16_t udp_source_port(std::uint32_t flow_label) {
  const std::uint32_t label = flow_label & kFlowLabelMask;
  return static_cast<std::uint16_t>(kFirstPort | ((label & kPortMask) ^ label >> kPortBits));
}

std::uint32_t flow_label_of(Qpn a, Qpn b) {
  std::uint64_t product = std::uint64_t{a.value()} * b.value();
  product ^= product >> 20;
  product ^= product >> 40;
  return static_cast<std::uint32_t>(product) & kFlowLabelMask;
}

std::uint16_t unconnected_source_port(Qpn qpn) {
  // NET-04 (a port hashed from the QPN), by Linux's hash_32: the multiplier is 2^32 / (golden ratio)^2.
  constexpr std::uint32_t kMultiplier = 0x61C8'8647;
  return static_cast<std::uint16_t>(kFirstPort + (qpn.value() * kMultiplier >> (32 - kPortBits)));
}

std::uint8_t service_level_of(SlPolicy policy, std::uint8_t tos) {
  // NET-09 (service level from TOS: the table of Linux, or TOS >> 5)
  if (policy == SlPolicy::mlnx) return static_cast<std::uint8_t>(tos >> 5);
  // Best effort, bulk, interactive and interactive bulk, by the two RFC 1349 bits that Linux distinguishes.
  constexpr std::array<std::uint8_t, 4> kPriorities{0, 2, 6, 4};
  return kPriorities[tos >> 3 & 3];
}

bool GidPrefix::contains(const Gid& other) const {
  const std::size_t length = std::min<std::size_t>(bits, 128);
  const std::size_t whole = length / 8;
  if (!std::equal(gid.octets.begin(), gid.octets.begin() + static_cast<std::ptrdiff_t>(whole), other.octets.begin())) {
    return false;
  }
  const std::size_t rest = length % 8;
  return rest == 0 || (gid.octets[whole] ^ other.octets[whole]) >> (8 - rest) == 0;
}

std::uint8_t TrafficClassPolicy::apply(const Gid& source, const Gid& destination, std::uint8_t requested) const {
  // NET-08 (the global value wins, then the first rule that matches, then the address vector)
  if (global) return *global;
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const TrafficClassRule& r) {
    return (!r.source || r.source->contains(source)) && (!r.destination || r.destination->contains(destination));
  });
  return rule != rules.end() ? rule->traffic_class : requested;
}

}  // namespace roce::transport
