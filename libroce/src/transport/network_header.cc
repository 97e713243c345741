// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/network_header.h"

#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"

namespace roce::transport {

std::optional<NetworkAddresses> addresses_in(Bytes area) {
  if (area.size() < kNetworkHeaderArea) return {};
  const Grh grh = read<Grh>(area.data());
  if (grh.version == 6) return NetworkAddresses{grh.source, grh.destination};
  const Ipv4 ipv4 = read<Ipv4>(area.data() + kNetworkHeaderArea - kSize<Ipv4>);
  if (ipv4.version != 4) return {};
  return NetworkAddresses{Gid::from_ipv4(ipv4.source), Gid::from_ipv4(ipv4.destination)};
}

}  // namespace roce::transport
