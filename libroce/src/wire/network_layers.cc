// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/grh.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/tunnel.h"
#include "roce/wire/udp.h"
#include "wire/packet_parser.h"

namespace roce {

void PacketParser::ip_by_version() {
  if (!need(HeaderId::ipv4, 1)) return;
  const auto version = std::to_integer<std::uint32_t>(*here()) >> 4;
  if (version == 4) return ipv4();
  if (version == 6) return ipv6();
  note(ParseReason::bad_version, HeaderId::ipv4, 4, version);
}

void PacketParser::ipv4() {
  const std::uint32_t start = position_;
  const std::byte* header = take<Ipv4>();
  if (header == nullptr) return;
  const std::uint32_t version = FieldOf<&Ipv4::version>::get(header);
  if (version != 4) return note_at(start, ParseReason::bad_version, HeaderId::ipv4, 4, version);
  const std::uint32_t header_bytes = FieldOf<&Ipv4::header_length>::get(header) * 4U;
  if (header_bytes < kSize<Ipv4>) {
    return note_at(start, ParseReason::bad_length, HeaderId::ipv4, kSize<Ipv4>, header_bytes);
  }
  // A sender's segmentation offload leaves a total length of 0 in a captured super-frame.
  const std::uint32_t total_length = FieldOf<&Ipv4::total_length>::get(header);
  if (total_length != 0) {
    if (total_length < header_bytes) {
      return note_at(start, ParseReason::bad_length, HeaderId::ipv4, header_bytes, total_length);
    }
    enclose(HeaderId::ipv4, start, total_length);
  }
  packet_.network_id_ = HeaderId::ipv4;
  packet_.network_offset_ = start;
  if (header_bytes > kSize<Ipv4> &&
      !take(HeaderId::ipv4_options, header_bytes - static_cast<std::uint32_t>(kSize<Ipv4>))) {
    return;
  }
  const std::uint32_t fragment_offset = FieldOf<&Ipv4::fragment_offset>::get(header);
  if (fragment_offset != 0 || FieldOf<&Ipv4::more_fragments>::get(header)) {
    note_at(start, ParseReason::fragment, HeaderId::ipv4, 0, fragment_offset * 8);
    fragmented_ = true;
    if (fragment_offset != 0) return;
  }
  ip_protocol(FieldOf<&Ipv4::protocol>::get(header));
}

void PacketParser::ipv6() {
  const std::uint32_t start = position_;
  const std::byte* header = take<Ipv6>();
  if (header == nullptr) return;
  const std::uint32_t version = FieldOf<&Ipv6::version>::get(header);
  if (version != 6) return note_at(start, ParseReason::bad_version, HeaderId::ipv6, 6, version);
  const std::uint32_t payload_length = FieldOf<&Ipv6::payload_length>::get(header);
  if (payload_length != 0) {
    enclose(HeaderId::ipv6, start, static_cast<std::uint32_t>(kSize<Ipv6>) + payload_length);
  }
  packet_.network_id_ = HeaderId::ipv6;
  packet_.network_offset_ = start;
  IpProtocol next = FieldOf<&Ipv6::next_header>::get(header);
  for (;;) {
    switch (next) {
      case IpProtocol::hop_by_hop:
      case IpProtocol::routing:
      case IpProtocol::destination_options:
      case IpProtocol::authentication: {
        if (!need(HeaderId::ipv6_extension, 8)) return;
        const auto words = std::to_integer<std::uint32_t>(here()[1]);
        const IpProtocol after{std::to_integer<std::uint8_t>(here()[0])};
        // RFC 8200, 4: length in units of 8 beyond the first 8; RFC 4302: in units of 4, minus 2.
        const std::uint32_t size = next == IpProtocol::authentication ? (words + 2) * 4 : (words + 1) * 8;
        if (!take(HeaderId::ipv6_extension, size)) return;
        next = after;
        continue;
      }
      case IpProtocol::fragment: {
        const std::byte* fragment = here();
        if (!take(HeaderId::ipv6_extension, 8)) return;
        const auto offset_and_flags = static_cast<std::uint32_t>(load_big_endian<2>(fragment + 2));
        if ((offset_and_flags & 0xFFF9) != 0) {
          note_at(start, ParseReason::fragment, HeaderId::ipv6, 0, offset_and_flags & 0xFFF8);
          fragmented_ = true;
          if ((offset_and_flags & 0xFFF8) != 0) return;
        }
        next = IpProtocol{std::to_integer<std::uint8_t>(fragment[0])};
        continue;
      }
      default:
        return ip_protocol(next);
    }
  }
}

// W-ENC-1 (RoCE v1 is EtherType 0x8915, GRH next header 0x1B)
void PacketParser::grh() {
  const std::uint32_t start = position_;
  const std::byte* header = take<Grh>();
  if (header == nullptr) return;
  const std::uint32_t version = FieldOf<&Grh::version>::get(header);
  if (version != 6) return note_at(start, ParseReason::bad_version, HeaderId::grh, 6, version);
  enclose(HeaderId::grh, start, static_cast<std::uint32_t>(kSize<Grh>) + FieldOf<&Grh::payload_length>::get(header));
  packet_.network_id_ = HeaderId::grh;
  packet_.network_offset_ = start;
  if (FieldOf<&Grh::next_header>::get(header) != IpProtocol::grh_bth) {
    return note_at(start, ParseReason::not_roce, HeaderId::grh, 0, 0);
  }
  transport(RoceVersion::v1);
}

// W-ENC-4 (tunnels are outside the packet)
void PacketParser::ip_protocol(IpProtocol protocol) {
  switch (protocol) {
    case IpProtocol::udp:
      return udp();
    case IpProtocol::gre:
      return gre();
    case IpProtocol::ipv4:
    case IpProtocol::ipv6:
      return ip_by_version();
    case IpProtocol::mpls:
      return mpls();
    default:
      return note(ParseReason::not_roce, HeaderId::none, 0, 0);
  }
}

// W-ENC-2 (RoCE v2 is UDP destination port 4791; any source port)
void PacketParser::udp() {
  const std::uint32_t start = position_;
  const std::byte* header = take<Udp>();
  if (header == nullptr) return;
  const std::uint32_t length = FieldOf<&Udp::length>::get(header);
  if (length != 0) {
    if (length < kSize<Udp>) return note_at(start, ParseReason::bad_length, HeaderId::udp, kSize<Udp>, length);
    enclose(HeaderId::udp, start, length);
  }
  switch (FieldOf<&Udp::destination_port>::get(header)) {
    case kRocePort:
      return transport(packet_.network_id_ == HeaderId::ipv4 ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6);
    case kVxlanPort:
      if (take<Vxlan>() != nullptr) ethernet();
      return;
    case kGenevePort:
      return geneve();
    case kMplsPort:
      return mpls();
    default:
      return note(ParseReason::not_roce, HeaderId::none, 0, 0);
  }
}

void PacketParser::geneve() {
  const std::byte* header = take<Geneve>();
  if (header == nullptr) return;
  const std::uint32_t options = FieldOf<&Geneve::option_length>::get(header) * 4U;
  if (options != 0 && !take(HeaderId::geneve_options, options)) return;
  ether_type(FieldOf<&Geneve::protocol>::get(header));
}

void PacketParser::gre() {
  const std::uint32_t start = position_;
  const std::byte* header = take<Gre>();
  if (header == nullptr) return;
  const std::uint32_t version = FieldOf<&Gre::version>::get(header);
  if (version != 0) return note_at(start, ParseReason::bad_version, HeaderId::gre, 0, version);
  const bool has_sequence = FieldOf<&Gre::has_sequence>::get(header);
  const std::uint32_t options = 4U * (FieldOf<&Gre::has_checksum>::get(header) ? 1U : 0U) +
                                4U * (FieldOf<&Gre::has_key>::get(header) ? 1U : 0U) + 4U * (has_sequence ? 1U : 0U);
  if (options != 0 && !take(HeaderId::gre_options, options)) return;
  const EtherType type = FieldOf<&Gre::protocol>::get(header);
  if (type == EtherType::erspan2) {
    // ERSPAN type I has neither a sequence number nor a header.
    if (has_sequence && take<Erspan2>() == nullptr) return;
    return ethernet();
  }
  if (type == EtherType::erspan3) return erspan3();
  ether_type(type);
}

void PacketParser::erspan3() {
  const std::byte* header = take<Erspan3>();
  if (header == nullptr) return;
  if (FieldOf<&Erspan3::has_subheader>::get(header) && !take(HeaderId::erspan3_subheader, 8)) return;
  ethernet();
}

}  // namespace roce
