// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_layers.h"

#include <algorithm>
#include <optional>

#include "roce/wire/cooked.h"
#include "roce/wire/grh.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"
#include "wire/network_headers.h"

namespace roce {

namespace {

bool is_network(HeaderId id) {
  return id == HeaderId::ipv4 || id == HeaderId::ipv6 || id == HeaderId::grh;
}

/// Indexes of the layers with which the innermost frame and its network header begin.
struct Inner {
  std::size_t link = 0;     ///< its Ethernet header, or the first layer if there is none
  std::size_t network = 0;  ///< its innermost network header
  bool has_network = false;
};

Inner find_inner(const LayerList& layers) {
  Inner inner;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].id == HeaderId::ethernet) inner = {.link = i};
    if (is_network(layers[i].id)) {
      inner.network = i;
      inner.has_network = true;
    }
  }
  return inner;
}

/// Adds `by` to the lengths in the headers in front of `offset`, all of which enclose it.
void lengthen(const LayerList& layers, std::size_t offset, std::ptrdiff_t by, std::vector<std::byte>& frame) {
  const auto add = [by](auto length) { return static_cast<std::uint16_t>(length + by); };
  for (const Layer& layer : layers) {
    if (layer.offset >= offset) return;
    std::byte* header = frame.data() + layer.offset;
    if (layer.id == HeaderId::ipv4) {
      FieldOf<&Ipv4::total_length>::set(header, add(FieldOf<&Ipv4::total_length>::get(header)));
    } else if (layer.id == HeaderId::ipv6 || layer.id == HeaderId::grh) {
      FieldOf<&Ipv6::payload_length>::set(header, add(FieldOf<&Ipv6::payload_length>::get(header)));
    } else if (layer.id == HeaderId::udp) {
      FieldOf<&Udp::length>::set(header, add(FieldOf<&Udp::length>::get(header)));
    }
  }
}

/// Replaces `size` bytes at `offset` by `bytes`, and corrects the lengths of the headers in front of them.
void replace(const LayerList& layers, std::size_t offset, std::size_t size, Bytes bytes,
             std::vector<std::byte>& frame) {
  lengthen(layers, offset, static_cast<std::ptrdiff_t>(bytes.size()) - static_cast<std::ptrdiff_t>(size), frame);
  const auto at = frame.begin() + static_cast<std::ptrdiff_t>(offset);
  if (bytes.size() < size) {
    frame.erase(at, at + static_cast<std::ptrdiff_t>(size - bytes.size()));
  } else {
    frame.insert(at, bytes.size() - size, std::byte{});
  }
  std::copy(bytes.begin(), bytes.end(), frame.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// Sets the type of the content in a header; false if the header cannot name it.
bool announce(const Layer& layer, EtherType type, std::vector<std::byte>& frame) {
  std::byte* header = frame.data() + layer.offset;
  switch (layer.id) {
    case HeaderId::ethernet:
      FieldOf<&Ethernet::ether_type>::set(header, type);
      return true;
    case HeaderId::vlan:
      FieldOf<&VlanTag::ether_type>::set(header, type);
      return true;
    case HeaderId::sll:
      FieldOf<&LinuxSll::ether_type>::set(header, type);
      return true;
    case HeaderId::sll2:
      FieldOf<&LinuxSll2::ether_type>::set(header, type);
      return true;
    default:
      return false;
  }
}

EtherType ether_type_of(HeaderId network) {
  return network == HeaderId::ipv4 ? EtherType::ipv4 : network == HeaderId::ipv6 ? EtherType::ipv6 : EtherType::roce_v1;
}

/// Returns the EtherType in an Ethernet header or VLAN tag.
EtherType announced_by(const Layer& layer, const std::vector<std::byte>& frame) {
  const std::byte* header = frame.data() + layer.offset;
  return layer.id == HeaderId::vlan ? FieldOf<&VlanTag::ether_type>::get(header)
                                    : FieldOf<&Ethernet::ether_type>::get(header);
}

}  // namespace

bool strip_tunnels(const Packet& packet, std::vector<std::byte>& frame) {
  const LayerList layers = packet.layers();
  const Inner inner = find_inner(layers);
  if (inner.link != 0) {
    frame.erase(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(layers[inner.link].offset));
    return true;
  }
  if (!inner.has_network) return false;
  std::size_t link_end = 1;
  while (link_end < layers.size() && layers[link_end].id == HeaderId::vlan) ++link_end;
  // A frame without a link layer begins with an IP header.
  if (is_network(layers[0].id)) link_end = 0;
  if (inner.network == link_end) return false;
  if (link_end > 0 && !announce(layers[0], ether_type_of(layers[inner.network].id), frame)) return false;
  const std::size_t kept = link_end > 0 ? layers[0].size : std::size_t{0};
  frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(kept),
              frame.begin() + static_cast<std::ptrdiff_t>(layers[inner.network].offset));
  return true;
}

bool remove_vlan_tags(const Packet& packet, std::vector<std::byte>& frame) {
  const LayerList layers = packet.layers();
  const Inner inner = find_inner(layers);
  std::size_t end = inner.link + 1;
  while (end < layers.size() && layers[end].id == HeaderId::vlan) ++end;
  if (end == inner.link + 1) return false;
  const Layer& link = layers[inner.link];
  if (!announce(link, announced_by(layers[end - 1], frame), frame)) return false;
  const std::size_t start = link.offset + link.size;
  replace(layers, start, (end - inner.link - 1) * kSize<VlanTag>, {}, frame);
  return true;
}

bool add_vlan_tag(const Packet& packet, VlanTag tag, std::vector<std::byte>& frame) {
  const LayerList layers = packet.layers();
  const Inner inner = find_inner(layers);
  if (layers.empty() || layers[inner.link].id != HeaderId::ethernet) return false;
  const Layer& link = layers[inner.link];
  tag.ether_type = announced_by(link, frame);
  announce(link, EtherType::vlan, frame);
  std::array<std::byte, kSize<VlanTag>> bytes{};
  write(tag, bytes.data());
  replace(layers, link.offset + link.size, 0, bytes, frame);
  return true;
}

bool change_network(const Packet& packet, const NetMeta& net, std::uint32_t flow_label, std::vector<std::byte>& frame) {
  if (!packet.is_roce() || packet.network_header() == HeaderId::none) return false;
  const LayerList layers = packet.layers();
  std::size_t index = 0;
  while (layers[index].offset != packet.network_offset() || !is_network(layers[index].id)) ++index;
  const std::size_t old_size = packet.bth_offset() - packet.network_offset();
  const std::byte* old = frame.data() + packet.network_offset();
  const std::size_t behind = packet.network_header() == HeaderId::ipv4
                                 ? FieldOf<&Ipv4::total_length>::get(old) - old_size
                                 : FieldOf<&Ipv6::payload_length>::get(old) + kSize<Ipv6> - old_size;
  NetworkHeaders headers = make_network_headers(net, behind);
  if (headers.size == 0) return false;
  if (index > 0 && !announce(layers[index - 1], ether_type_of(headers.network), frame)) return false;
  if (index == 0 && headers.network == HeaderId::grh) return false;
  if (headers.network != HeaderId::ipv4) FieldOf<&Ipv6::flow_label>::set(headers.bytes.data(), flow_label);
  replace(layers, packet.network_offset(), old_size, Bytes{headers.bytes}.first(headers.size), frame);
  return true;
}

bool change_transport(const Packet& packet, Bytes transport, std::vector<std::byte>& frame) {
  constexpr std::size_t icrc_size = 4;
  if (!packet.is_roce() || !packet.has_icrc()) return false;
  const std::size_t old_size = packet.icrc_offset() + icrc_size - packet.bth_offset();
  replace(packet.layers(), packet.bth_offset(), old_size, transport, frame);
  return true;
}

std::uint32_t flow_label_of(const Packet& packet) {
  if (packet.network_header() != HeaderId::ipv6 && packet.network_header() != HeaderId::grh) return 0;
  return FieldOf<&Ipv6::flow_label>::get(packet.bytes().data() + packet.network_offset());
}

}  // namespace roce
