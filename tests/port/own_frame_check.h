// SPDX-License-Identifier: BSD-2-Clause
// Checks of every frame that the owner of an IP address sends, whatever caused it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "roce/transport/address.h"
#include "roce/wire/arp.h"
#include "roce/wire/checksum.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/icmp.h"
#include "roce/wire/igmp.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"

namespace roce::port::test {

/// Returns the offset of an ICMP, IGMP or ICMPv6 message in an IP packet, by its headers, which may be wrong.
[[nodiscard]] inline std::size_t message_offset(Bytes packet, EtherType type) {
  constexpr std::size_t word = 4;
  constexpr std::size_t extension_unit = 8;
  if (type == EtherType::ipv4) return parse<Ipv4>(packet).value_or(Ipv4{}).header_length * word;
  const bool has_options = parse<Ipv6>(packet).value_or(Ipv6{}).next_header == IpProtocol::hop_by_hop;
  if (!has_options || packet.size() < kSize<Ipv6> + 2) return kSize<Ipv6>;
  return kSize<Ipv6> + (std::to_integer<std::size_t>(packet[kSize<Ipv6> + 1]) + 1) * extension_unit;
}

/// Corrects the checksums of a damaged frame as far as it has any, so that only its contents are wrong.
inline void repair_checksums(std::vector<std::byte>& frame) {
  const auto ethernet = parse<Ethernet>(frame);
  if (!ethernet || (ethernet->ether_type != EtherType::ipv4 && ethernet->ether_type != EtherType::ipv6)) return;
  const bool is_ipv4 = ethernet->ether_type == EtherType::ipv4;
  const std::span<std::byte> packet = std::span{frame}.subspan(kSize<Ethernet>);
  const std::size_t offset = message_offset(packet, ethernet->ether_type);
  if (offset < (is_ipv4 ? kSize<Ipv4> : kSize<Ipv6>) || offset + kSize<Icmp> > packet.size()) return;
  const std::span<std::byte> message = packet.subspan(offset);
  // ICMP, IGMP and ICMPv6 have it at the same place.
  FieldOf<&Icmp::checksum>::set(message.data(), 0);
  std::uint16_t checksum = internet_checksum(message);
  if (is_ipv4) {
    FieldOf<&Ipv4::checksum>::set(packet.data(), ipv4_checksum(packet.first(offset)));
  } else {
    const auto ip = parse<Ipv6>(packet);
    checksum = ipv6_upper_checksum(ip->source, ip->destination, IpProtocol::icmpv6, message);
  }
  FieldOf<&Icmp::checksum>::set(message.data(), checksum);
}

[[nodiscard]] inline std::string flaw_of_arp(Bytes packet, const MacAddress& mac, const Gid& ip) {
  const auto arp = parse<Arp>(packet);
  if (!arp || packet.size() != kSize<Arp>) return "not as long as ARP is";
  if (!ip.is_ipv4_mapped() || !arp->is_ipv4_over_ethernet()) return "ARP of another family";
  if (arp->operation != ArpOperation::request && arp->operation != ArpOperation::reply) return "no ARP operation";
  return arp->sender_mac == mac && arp->sender_ip == ip.ipv4() ? "" : "ARP that does not tell our address";
}

[[nodiscard]] inline std::string flaw_of_ipv4(Bytes packet, const Gid& ip) {
  const auto header = parse<Ipv4>(packet);
  const std::size_t offset = message_offset(packet, EtherType::ipv4);
  if (!header || header->version != 4 || offset < kSize<Ipv4> || offset + kSize<Icmp> > packet.size() ||
      header->total_length != packet.size() || is_ipv4_fragment(packet.data())) {
    return "the lengths of IPv4";
  }
  if (Gid::from_ipv4(header->source) != ip) return "from another IPv4 address";
  if (ipv4_checksum(packet.first(offset)) != header->checksum) return "the checksum of IPv4";
  const Bytes message = packet.subspan(offset);
  if (internet_checksum(message) != 0) return "the checksum of the message";
  const Gid destination = Gid::from_ipv4(header->destination);
  if (header->protocol == IpProtocol::igmp) return transport::is_multicast(destination) ? "" : "IGMP to one host";
  if (header->protocol != IpProtocol::icmp || parse<Icmp>(message)->type != IcmpType::echo_reply)
    return "no echo reply";
  return transport::is_multicast(destination) || header->destination == Ipv4Address{} ? "an echo reply to no host" : "";
}

[[nodiscard]] inline std::string flaw_of_ipv6(Bytes packet, const Gid& ip) {
  const auto header = parse<Ipv6>(packet);
  const std::size_t offset = message_offset(packet, EtherType::ipv6);
  if (!header || header->version != 6 || offset + kSize<Icmp> > packet.size() ||
      header->payload_length != packet.size() - kSize<Ipv6>) {
    return "the lengths of IPv6";
  }
  const bool is_link_local = header->source.octets[0] == 0xFE && header->source.octets[1] == 0x80;
  if (header->source != ip && !is_link_local) return "from another IPv6 address";
  if (header->destination == Gid{}) return "to no address";
  return ipv6_upper_checksum(header->source, header->destination, IpProtocol::icmpv6, packet.subspan(offset)) == 0
             ? ""
             : "the checksum of ICMPv6";
}

/// Returns what is wrong with a frame from a host that owns these addresses; empty if nothing is.
[[nodiscard]] inline std::string flaw_of(Bytes frame, const MacAddress& mac, const Gid& ip) {
  const auto ethernet = parse<Ethernet>(frame);
  if (!ethernet || ethernet->source != mac) return "the Ethernet header";
  const Bytes packet = frame.subspan(kSize<Ethernet>);
  switch (ethernet->ether_type) {
    case EtherType::arp:
      return flaw_of_arp(packet, mac, ip);
    case EtherType::ipv4:
      return ip.is_ipv4_mapped() ? flaw_of_ipv4(packet, ip) : "IPv4 from who has IPv6";
    case EtherType::ipv6:
      return ip.is_ipv4_mapped() ? "IPv6 from who has IPv4" : flaw_of_ipv6(packet, ip);
    default:
      return "another protocol";
  }
}

}  // namespace roce::port::test
