// SPDX-License-Identifier: BSD-2-Clause
#include "wire/network_headers.h"

#include "roce/wire/grh.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"

namespace roce {

namespace {

/// Returns an IPv6 header or a GRH, which have the same shape.
template <typename H>
H make_ip(const NetMeta& net, std::size_t payload_length) {
  return H{.dscp = static_cast<std::uint8_t>(net.traffic_class >> 2),
           .ecn = static_cast<std::uint8_t>(net.traffic_class & 3),
           .payload_length = static_cast<std::uint16_t>(payload_length),
           .hop_limit = net.hop_limit,
           .source = net.source,
           .destination = net.destination};
}

}  // namespace

NetworkHeaders make_network_headers(const NetMeta& net, std::size_t length) {
  NetworkHeaders headers;
  const auto put = [&]<HeaderType H>(const H& header) {
    write(header, headers.bytes.data() + headers.size);
    headers.size += kSize<H>;
  };
  const std::size_t udp_length = kSize<Udp> + length;
  const Udp udp{.source_port = net.udp_source_port, .length = static_cast<std::uint16_t>(udp_length)};
  switch (net.version) {
    case RoceVersion::none:
      break;
    case RoceVersion::v1:
      headers.network = HeaderId::grh;
      put(make_ip<Grh>(net, length));
      break;
    case RoceVersion::v2_ipv4:
      headers.network = HeaderId::ipv4;
      put(Ipv4{.dscp = static_cast<std::uint8_t>(net.traffic_class >> 2),
               .ecn = static_cast<std::uint8_t>(net.traffic_class & 3),
               .total_length = static_cast<std::uint16_t>(kSize<Ipv4> + udp_length),
               .identification = net.ip_id.value_or(0),
               .dont_fragment = net.dont_fragment,
               .ttl = net.hop_limit,
               .source = net.source.ipv4(),
               .destination = net.destination.ipv4()});
      put(udp);
      break;
    case RoceVersion::v2_ipv6:
      headers.network = HeaderId::ipv6;
      put(make_ip<Ipv6>(net, udp_length));
      put(udp);
      break;
  }
  return headers;
}

}  // namespace roce
