// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/neighbour_message.h"

#include "roce/wire/arp.h"
#include "roce/wire/cooked.h"
#include "roce/wire/ethernet.h"
#include "wire/ip_message.h"

namespace roce {

namespace {

constexpr std::size_t kNdOptionUnit = 8;
/// RFC 4861: a message with less has come from another network.
constexpr std::uint8_t kNdHopLimit = 255;
constexpr Gid kNoIpv4 = Gid::from_ipv4({});

/// Returns the type of what is behind the last header, which is one of the link.
std::optional<EtherType> last_type(const Packet& packet) {
  const LayerList layers = packet.layers();
  if (layers.empty()) return std::nullopt;
  const std::byte* header = packet.bytes().data() + layers.back().offset;
  switch (layers.back().id) {
    case HeaderId::ethernet:
      return FieldOf<&Ethernet::ether_type>::get(header);
    case HeaderId::vlan:
      return FieldOf<&VlanTag::ether_type>::get(header);
    case HeaderId::sll:
      return FieldOf<&LinuxSll::ether_type>::get(header);
    case HeaderId::sll2:
      return FieldOf<&LinuxSll2::ether_type>::get(header);
    default:
      return std::nullopt;
  }
}

std::optional<NeighbourMessage> read_arp(const Packet& packet) {
  if (last_type(packet) != EtherType::arp) return std::nullopt;
  const auto arp = parse<Arp>(packet.payload());
  if (!arp || !arp->is_ipv4_over_ethernet()) return std::nullopt;
  NeighbourMessage message;
  message.sender = message.address = Gid::from_ipv4(arp->sender_ip);
  message.mac = arp->sender_mac;
  if (arp->operation != ArpOperation::request && arp->operation != ArpOperation::reply) return std::nullopt;
  if (message.sender == kNoIpv4) {
    // RFC 5227, 2.1.1
    if (arp->operation != ArpOperation::request || arp->target_ip == Ipv4Address{}) return std::nullopt;
    message.is_probe = true;
  } else if (arp->sender_ip == arp->target_ip) {
    message.purpose = NeighbourPurpose::announcement;
    return message;
  } else if (arp->operation == ArpOperation::reply) {
    message.purpose = NeighbourPurpose::answer;
    return message;
  }
  message.address = Gid::from_ipv4(arp->target_ip);
  return message;
}

std::optional<NeighbourMessage> read_nd(const Packet& packet) {
  const std::optional<IpMessage> ip = find_icmp(packet);
  if (!ip || ip->protocol != IpProtocol::icmpv6 || ip->hop_limit != kNdHopLimit) return std::nullopt;
  const auto icmp = parse<Icmpv6>(ip->bytes);
  if (!icmp || icmp->code != 0) return std::nullopt;
  const Bytes body = ip->bytes.subspan(kSize<Icmpv6>);
  NeighbourMessage message;
  message.sender = ip->source;
  if (icmp->type == Icmpv6Type::neighbour_solicitation) {
    const auto solicitation = parse<NeighbourSolicitation>(body);
    if (!solicitation) return std::nullopt;
    message.address = solicitation->target;
    message.is_probe = ip->source == Gid{};
    const auto at = read_nd_options(body.subspan(kSize<NeighbourSolicitation>), NdOption::source_link_layer);
    message.mac = at.mac.value_or(MacAddress{});
    return message;
  }
  if (icmp->type != Icmpv6Type::neighbour_advertisement) return std::nullopt;
  const auto advertisement = parse<NeighbourAdvertisement>(body);
  if (!advertisement) return std::nullopt;
  message.address = advertisement->target;
  message.purpose = advertisement->solicited ? NeighbourPurpose::answer : NeighbourPurpose::announcement;
  const auto at = read_nd_options(body.subspan(kSize<NeighbourAdvertisement>), NdOption::target_link_layer);
  message.mac = at.mac.value_or(MacAddress{});
  return message;
}

}  // namespace

NdLinkLayerAddress read_nd_options(Bytes options, NdOption wanted) {
  NdLinkLayerAddress found;
  while (!options.empty()) {
    const auto option = parse<NdLinkLayer>(options);
    const std::size_t size = option ? option->length * kNdOptionUnit : 0;
    if (size == 0 || size > options.size()) return {.ok = false};
    if (option->type == wanted && option->length == 1) found.mac = option->mac;
    options = options.subspan(size);
  }
  return found;
}

std::optional<NeighbourMessage> read_neighbour_message(const Packet& packet) {
  if (packet.kind() != PacketKind::other || packet.problem().reason != ParseReason::not_roce) return std::nullopt;
  return packet.network_header() == HeaderId::none ? read_arp(packet) : read_nd(packet);
}

}  // namespace roce
