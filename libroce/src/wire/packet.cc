// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet.h"

#include "roce/wire/constants.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"
#include "wire/packet_parser.h"

namespace roce {

void PacketParser::parse_frame(LinkType link_type) {
  link(link_type);
  if (packet_.kind_ != PacketKind::roce) {
    packet_.outer_count_ = packet_.layer_count_;
    packet_.payload_offset_ = position_;
    packet_.payload_size_ = packet_.reported_ - position_;
  }
}

void PacketParser::parse_transport(const NetMeta& net) {
  packet_.net_ = net;
  transport(net.version);
}

void Packet::parse_layers(Bytes captured, LinkType link_type, std::uint32_t reported_length) {
  PacketParser{*this, captured, reported_length}.parse_frame(link_type);
}

Packet parse_transport(Bytes captured, const NetMeta& net, std::uint32_t reported_length) {
  Packet packet;
  PacketParser{packet, captured, reported_length}.parse_transport(net);
  return packet;
}

Bytes Packet::trailer() const {
  if (!has_icrc_) return {};
  const std::uint32_t end = icrc_offset() + kIcrcSize;
  return {data_ + end, captured_ - end};
}

LayerList Packet::layers() const {
  LayerList list;
  for (std::size_t i = 0; i < outer_count_; ++i) list.push_back(stored_layers()[i]);
  if (chain_bytes_ != 0) {
    for (const Layer& layer : chain().layers) {
      if (layer.size == 0 || layer.offset >= chain_bytes_) break;
      list.push_back({bth_offset_ + layer.offset, layer.size, layer.id});
    }
  }
  for (std::size_t i = outer_count_; i < layer_count_; ++i) list.push_back(stored_layers()[i]);
  return list;
}

std::optional<Layer> Packet::find(HeaderId id) const {
  if (detail::is_transport_header(id)) {
    const std::uint8_t offset = transport_header_offset(id);
    if (offset == detail::HeaderChain::kAbsent) return std::nullopt;
    const std::uint16_t size = id == HeaderId::bth ? kSize<Bth> : detail::transport_header_size(id);
    return Layer{bth_offset_ + offset, size, id};
  }
  for (std::size_t i = layer_count_; i-- > 0;) {
    if (stored_layers()[i].id == id) return stored_layers()[i];
  }
  return std::nullopt;
}

std::uint8_t Packet::traffic_class() const {
  if (net_) return net_->traffic_class;
  const std::byte* network = data_ + network_offset_;
  // In an IPv6 header and a GRH it is behind the four bits of the version (RFC 8200, 3; IBTA vol. 1, 8.3).
  const std::uint64_t class_and_version = load_big_endian<2>(network);
  return static_cast<std::uint8_t>(network_id_ == HeaderId::ipv4 ? class_and_version : class_and_version >> 4);
}

std::optional<std::uint16_t> Packet::find_vlan_tci() const {
  if (net_) return net_->vlan_tci;
  const std::optional<Layer> vlan = find(HeaderId::vlan);
  if (!vlan) return std::nullopt;
  return static_cast<std::uint16_t>(load_big_endian<2>(data_ + vlan->offset));
}

bool Packet::is_between_layers(RoceVersion version, const Gid& source, const Gid& destination) const {
  if (version != version_) return false;
  if (net_) return net_->source == source && net_->destination == destination;
  const std::byte* network = data_ + network_offset_;
  if (network_id_ == HeaderId::ipv4) {
    return FieldOf<&Ipv4::source>::get(network) == source.ipv4() &&
           FieldOf<&Ipv4::destination>::get(network) == destination.ipv4();
  }
  return FieldOf<&Ipv6::source>::get(network) == source && FieldOf<&Ipv6::destination>::get(network) == destination;
}

NetMeta Packet::net() const {
  if (net_) return *net_;
  NetMeta net;
  net.version = version_;
  const std::byte* network = data_ + network_offset_;
  switch (network_id_) {
    case HeaderId::ipv4: {
      const auto ip = read<Ipv4>(network);
      net.source = Gid::from_ipv4(ip.source);
      net.destination = Gid::from_ipv4(ip.destination);
      net.traffic_class = static_cast<std::uint8_t>(ip.dscp << 2 | ip.ecn);
      net.hop_limit = ip.ttl;
      net.ip_id = ip.identification;
      net.dont_fragment = ip.dont_fragment;
      break;
    }
    case HeaderId::ipv6:
    case HeaderId::grh: {
      // A GRH has the shape of an IPv6 header (IBTA vol. 1, 8.3).
      const auto ip = read<Ipv6>(network);
      net.source = ip.source;
      net.destination = ip.destination;
      net.traffic_class = static_cast<std::uint8_t>(ip.dscp << 2 | ip.ecn);
      net.hop_limit = ip.hop_limit;
      break;
    }
    default:
      break;
  }
  if (version_ == RoceVersion::v2_ipv4 || version_ == RoceVersion::v2_ipv6) {
    if (const auto udp = find(HeaderId::udp)) {
      net.udp_source_port = FieldOf<&Udp::source_port>::get(data_ + udp->offset);
    }
  }
  net.vlan_tci = vlan_tci();
  return net;
}

}  // namespace roce
