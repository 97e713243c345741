// SPDX-License-Identifier: BSD-2-Clause
#include "port/address_frames.h"

#include "roce/wire/checksum.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/icmp.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/igmp.h"
#include "roce/wire/router_alert.h"

namespace roce::port {
namespace {

constexpr std::size_t kLargestHeaders =
    kSize<Ethernet> + kSize<VlanTag> + kSize<Ipv6> + kSize<Ipv6RouterAlert> + kSize<Arp>;
constexpr std::size_t kWord = 4;
constexpr std::size_t kExtensionUnit = 8;

/// Builds a frame with an Ethernet header, behind which `add_rest` adds the rest.
template <typename AddRest>
Frame make_frame(const Sender& sender, const MacAddress& destination, EtherType type, std::size_t message_size,
                 const AddRest& add_rest) {
  Frame frame(kLargestHeaders + message_size);
  FrameBuilder builder{frame};
  builder.add(Ethernet{destination, sender.mac, sender.vlan_id ? EtherType::vlan : type});
  if (sender.vlan_id) builder.add(VlanTag{.vlan_id = *sender.vlan_id, .ether_type = type});
  add_rest(builder);
  // This cannot fail: there is room for the largest headers.
  frame.resize(builder.finish().value_or(0));
  return frame;
}

bool is_group(const MacAddress& mac) {
  return (mac.octets[0] & 1) != 0;
}

std::optional<ReceivedMessage> read_ipv4(const ReceivedEthernet& ethernet) {
  const Bytes packet = ethernet.payload;
  const auto ip = parse<Ipv4>(packet);
  if (!ip || ip->version != 4 || is_ipv4_fragment(packet.data())) return std::nullopt;
  const std::size_t header = ip->header_length * kWord;
  if (header < kSize<Ipv4> || ip->total_length < header || ip->total_length > packet.size()) return std::nullopt;
  if (ip->protocol != IpProtocol::icmp && ip->protocol != IpProtocol::igmp) return std::nullopt;
  const Bytes message = packet.subspan(header, ip->total_length - header);
  if (ipv4_checksum(packet.first(header)) != ip->checksum || internet_checksum(message) != 0) return std::nullopt;
  return ReceivedMessage{
      ethernet.source, Gid::from_ipv4(ip->source), Gid::from_ipv4(ip->destination), ip->ttl, ip->protocol, message};
}

std::optional<ReceivedMessage> read_ipv6(const ReceivedEthernet& ethernet) {
  const auto ip = parse<Ipv6>(ethernet.payload);
  if (!ip || ip->version != 6 || ip->payload_length > ethernet.payload.size() - kSize<Ipv6>) return std::nullopt;
  Bytes message = ethernet.payload.subspan(kSize<Ipv6>, ip->payload_length);
  IpProtocol protocol = ip->next_header;
  if (protocol == IpProtocol::hop_by_hop) {
    const auto extension = parse<Ipv6RouterAlert>(message);
    if (!extension) return std::nullopt;
    const std::size_t size = (std::size_t{extension->length} + 1) * kExtensionUnit;
    if (size > message.size()) return std::nullopt;
    protocol = extension->next_header;
    message = message.subspan(size);
  }
  if (protocol != IpProtocol::icmpv6 || ipv6_upper_checksum(ip->source, ip->destination, protocol, message) != 0) {
    return std::nullopt;
  }
  return ReceivedMessage{ethernet.source, ip->source, ip->destination, ip->hop_limit, protocol, message};
}

}  // namespace

Frame arp_frame(const Sender& sender, const MacAddress& destination, const Arp& arp) {
  return make_frame(sender, destination, EtherType::arp, 0, [&](FrameBuilder& frame) { frame.add(arp); });
}

Frame ipv4_frame(const Sender& sender, const MacAddress& destination, const Ipv4& ip, std::vector<std::byte> message,
                 bool router_alert) {
  const std::uint16_t checksum = internet_checksum(message);
  if (ip.protocol == IpProtocol::igmp) {
    FieldOf<&Igmp::checksum>::set(message.data(), checksum);
  } else {
    FieldOf<&Icmp::checksum>::set(message.data(), checksum);
  }
  Ipv4 header = ip;
  std::vector<std::byte> options;
  if (router_alert) options = joined(Ipv4RouterAlert{});
  header.header_length = static_cast<std::uint8_t>((kSize<Ipv4> + options.size()) / kWord);
  header.total_length = static_cast<std::uint16_t>(kSize<Ipv4> + options.size() + message.size());
  std::vector<std::byte> packet = joined(header);
  packet.insert(packet.end(), options.begin(), options.end());
  FieldOf<&Ipv4::checksum>::set(packet.data(), ipv4_checksum(packet));
  packet.insert(packet.end(), message.begin(), message.end());
  return make_frame(sender, destination, EtherType::ipv4, packet.size(),
                    [&](FrameBuilder& frame) { frame.payload(packet); });
}

Frame ipv6_frame(const Sender& sender, const MacAddress& destination, Ipv6 ip, std::vector<std::byte> message,
                 bool router_alert) {
  FieldOf<&Icmpv6::checksum>::set(message.data(),
                                  ipv6_upper_checksum(ip.source, ip.destination, IpProtocol::icmpv6, message));
  ip.next_header = router_alert ? IpProtocol::hop_by_hop : IpProtocol::icmpv6;
  return make_frame(sender, destination, EtherType::ipv6, message.size(), [&](FrameBuilder& frame) {
    frame.add(ip);
    if (router_alert) frame.add(Ipv6RouterAlert{});
    frame.payload(message);
  });
}

std::optional<ReceivedEthernet> read_ethernet(const Sender& receiver, Bytes frame) {
  const auto ethernet = parse<Ethernet>(frame);
  if (!ethernet || ethernet->source == receiver.mac || is_group(ethernet->source)) return std::nullopt;
  if (ethernet->destination != receiver.mac && !is_group(ethernet->destination)) return std::nullopt;
  Bytes payload = frame.subspan(kSize<Ethernet>);
  EtherType type = ethernet->ether_type;
  std::uint16_t vlan_id = 0;
  if (type == EtherType::vlan) {
    const auto tag = parse<VlanTag>(payload);
    if (!tag) return std::nullopt;
    vlan_id = tag->vlan_id;
    type = tag->ether_type;
    payload = payload.subspan(kSize<VlanTag>);
  }
  // A tag with VLAN id 0 has only a priority (IEEE 802.1Q).
  if (vlan_id != receiver.vlan_id.value_or(0)) return std::nullopt;
  return ReceivedEthernet{ethernet->source, type, payload};
}

std::optional<ReceivedMessage> read_message(const ReceivedEthernet& ethernet) {
  if (ethernet.type == EtherType::ipv4) return read_ipv4(ethernet);
  if (ethernet.type == EtherType::ipv6) return read_ipv6(ethernet);
  return std::nullopt;
}

}  // namespace roce::port
