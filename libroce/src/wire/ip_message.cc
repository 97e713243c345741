// SPDX-License-Identifier: BSD-2-Clause
#include "wire/ip_message.h"

#include <algorithm>

#include "roce/wire/checksum.h"
#include "roce/wire/ipv6.h"

namespace roce {

std::optional<IpMessage> find_icmp(const Packet& packet) {
  // The parser ends here for each protocol that cannot lead to RoCE; anything else was a fragment, or damaged.
  if (packet.kind() != PacketKind::other || packet.problem().reason != ParseReason::not_roce) return std::nullopt;
  const std::byte* network = packet.bytes().data() + packet.network_offset();
  IpMessage message;
  std::size_t end = packet.network_offset();
  if (packet.network_header() == HeaderId::ipv4) {
    message.protocol = FieldOf<&Ipv4::protocol>::get(network);
    if (message.protocol != IpProtocol::icmp) return std::nullopt;
    end += FieldOf<&Ipv4::total_length>::get(network);
    message.source = Gid::from_ipv4(FieldOf<&Ipv4::source>::get(network));
    message.destination = Gid::from_ipv4(FieldOf<&Ipv4::destination>::get(network));
    message.hop_limit = FieldOf<&Ipv4::ttl>::get(network);
  } else if (packet.network_header() == HeaderId::ipv6) {
    message.protocol = FieldOf<&Ipv6::next_header>::get(network);
    if (message.protocol != IpProtocol::icmpv6) return std::nullopt;
    end += kSize<Ipv6> + FieldOf<&Ipv6::payload_length>::get(network);
    message.source = FieldOf<&Ipv6::source>::get(network);
    message.destination = FieldOf<&Ipv6::destination>::get(network);
    message.hop_limit = FieldOf<&Ipv6::hop_limit>::get(network);
  } else {
    return std::nullopt;
  }
  const std::size_t begin = packet.payload_offset();
  if (end < begin || begin > packet.bytes().size()) return std::nullopt;
  message.bytes = packet.bytes().subspan(begin, std::min(end, packet.bytes().size()) - begin);
  if (end > packet.bytes().size()) return message;
  const std::uint16_t sum =
      message.protocol == IpProtocol::icmp
          ? internet_checksum(message.bytes)
          : ipv6_upper_checksum(message.source, message.destination, message.protocol, message.bytes);
  return sum == 0 ? std::optional{message} : std::nullopt;
}

}  // namespace roce
