// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/header_area.h"

#include <algorithm>

#include "roce/wire/checksum.h"
#include "roce/wire/constants.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "wire/network_headers.h"

namespace roce {

namespace {

constexpr std::size_t kIpv4Start = kNetworkHeaderArea - kSize<Ipv4>;
static_assert(kSize<Grh> == kNetworkHeaderArea && kSize<Ipv6> == kNetworkHeaderArea);

}  // namespace

std::array<std::byte, kNetworkHeaderArea> network_header_area(const Packet& packet) {
  std::array<std::byte, kNetworkHeaderArea> area{};
  NetworkHeaders rebuilt;
  HeaderId network = packet.network_header();
  const std::byte* from = packet.bytes().data() + packet.network_offset();
  if (network == HeaderId::none) {
    rebuilt = make_network_headers(packet.net(), packet.icrc_offset() + kIcrcSize - packet.bth_offset());
    network = rebuilt.network;
    from = rebuilt.bytes.data();
    if (network == HeaderId::ipv4) {
      FieldOf<&Ipv4::checksum>::set(rebuilt.bytes.data(), ipv4_checksum(Bytes{rebuilt.bytes}.first(kSize<Ipv4>)));
    }
  }
  const std::size_t start = network == HeaderId::ipv4 ? kIpv4Start : 0;
  std::copy_n(from, kNetworkHeaderArea - start, area.begin() + start);
  return area;
}

std::optional<NetworkAddresses> addresses_in(Bytes area) {
  if (area.size() < kNetworkHeaderArea) return {};
  const Grh grh = read<Grh>(area.data());
  if (grh.version == 6) return NetworkAddresses{grh.source, grh.destination};
  const Ipv4 ipv4 = read<Ipv4>(area.data() + kIpv4Start);
  if (ipv4.version != 4) return {};
  return NetworkAddresses{Gid::from_ipv4(ipv4.source), Gid::from_ipv4(ipv4.destination)};
}

}  // namespace roce
