// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/cooked.h"
#include "roce/wire/mac_control.h"
#include "roce/wire/qcn.h"
#include "roce/wire/tunnel.h"
#include "wire/packet_parser.h"

namespace roce {

void PacketParser::link(LinkType link_type) {
  switch (link_type) {
    case LinkType::ethernet:
      return ethernet();
    case LinkType::linux_sll:
      if (const std::byte* header = take<LinuxSll>()) ether_type(FieldOf<&LinuxSll::ether_type>::get(header));
      return;
    case LinkType::linux_sll2:
      if (const std::byte* header = take<LinuxSll2>()) ether_type(FieldOf<&LinuxSll2::ether_type>::get(header));
      return;
    case LinkType::raw_ip_bsd:
    case LinkType::raw_ip_openbsd:
    case LinkType::raw_ip:
    case LinkType::ipv4:
    case LinkType::ipv6:
      return ip_by_version();
  }
  note(ParseReason::not_roce, HeaderId::none, 0, 0);
}

void PacketParser::ethernet() {
  if (const std::byte* header = take<Ethernet>()) ether_type(FieldOf<&Ethernet::ether_type>::get(header));
}

// W-ENC-4 (VLAN tags, tunnels and cooked headers are outside the packet)
void PacketParser::ether_type(EtherType type) {
  for (;;) {
    switch (type) {
      case EtherType::ipv4:
        return ipv4();
      case EtherType::ipv6:
        return ipv6();
      case EtherType::roce_v1:
        return grh();
      case EtherType::vlan:
      case EtherType::provider_vlan:
      case EtherType::qinq_old: {
        const std::byte* tag = take<VlanTag>();
        if (tag == nullptr) return;
        type = FieldOf<&VlanTag::ether_type>::get(tag);
        continue;
      }
      case EtherType::cn_tag: {
        const std::byte* tag = take<CnTag>();
        if (tag == nullptr) return;
        type = FieldOf<&CnTag::ether_type>::get(tag);
        continue;
      }
      case EtherType::mpls:
      case EtherType::mpls_multicast:
        return mpls();
      case EtherType::mac_control:
        return mac_control();
      case EtherType::lldp:
        packet_.kind_ = PacketKind::lldp;
        return;
      case EtherType::cnm:
        if (take<Cnm>() != nullptr) packet_.kind_ = PacketKind::cnm;
        return;
      case EtherType::transparent_ethernet:
        return ethernet();
      case EtherType::arp:
      case EtherType::erspan2:
      case EtherType::erspan3:
        break;
    }
    return note(ParseReason::not_roce, HeaderId::none, 0, 0);
  }
}

void PacketParser::mac_control() {
  const std::byte* header = take<MacControl>();
  if (header == nullptr) return;
  packet_.kind_ = PacketKind::mac_control;
  switch (FieldOf<&MacControl::opcode>::get(header)) {
    case MacControlOpcode::pfc:
      if (take<Pfc>() != nullptr) packet_.kind_ = PacketKind::pfc;
      return;
    case MacControlOpcode::pause:
      if (take<Pause>() != nullptr) packet_.kind_ = PacketKind::pause;
      return;
  }
}

void PacketParser::mpls() {
  bool bottom = false;
  while (!bottom) {
    const std::byte* label = take<MplsLabel>();
    if (label == nullptr) return;
    bottom = FieldOf<&MplsLabel::bottom>::get(label);
  }
  // The last label does not name the protocol behind it: IP is recognised by its version, a pseudowire by a zero nibble
  // (RFC 4385).
  if (!need(HeaderId::pw_control_word, 1)) return;
  switch (std::to_integer<unsigned>(*here()) >> 4) {
    case 4:
    case 6:
      return ip_by_version();
    case 0:
      if (take(HeaderId::pw_control_word, 4)) ethernet();
      return;
    default:
      return ethernet();
  }
}

}  // namespace roce
