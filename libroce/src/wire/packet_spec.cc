// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/packet_spec.h"

#include <algorithm>

#include "roce/wire/all_headers.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/visit.h"
#include "wire/packet_spec_layout.h"

namespace roce {

namespace {

/// Returns the bytes of a new header: the defaults of its struct.
std::vector<std::byte> default_bytes(HeaderId id) {
  std::vector<std::byte> bytes;
  AllHeaders::for_each([&]<typename H>() {
    if (kHeader<H>.id != id) return;
    bytes.resize(kSize<H>);
    write(H{}, bytes.data());
  });
  return bytes;
}

/// Returns the fields of a header that follow from the rest of the packet.
std::vector<const FieldInfo*> automatic_fields(HeaderId id) {
  std::vector<const FieldInfo*> fields;
  const auto add = [&](std::string_view name) { fields.push_back(find_field(header_info(id), name)); };
  switch (id) {
    case HeaderId::ipv4:
      add("total_length");
      add("checksum");
      break;
    case HeaderId::ipv6:
    case HeaderId::grh:
      add("payload_length");
      break;
    case HeaderId::udp:
      add("length");
      break;
    case HeaderId::bth:
      add("pad_count");
      break;
    default:
      break;
  }
  return fields;
}

bool is_network(HeaderId id) {
  return id == HeaderId::ipv4 || id == HeaderId::ipv6 || id == HeaderId::grh;
}

}  // namespace

PacketSpec::Part PacketSpec::make_part(HeaderId id) {
  return {id, default_bytes(id), automatic_fields(id), {}, 0};
}

Bytes PacketSpec::view(const Part& part) const {
  if (!part.nested_in) return part.bytes;
  const Bytes outer = *part.nested_in == kInPayload ? Bytes{payload_} : view(parts_[*part.nested_in]);
  return outer.subspan(part.nested_offset, header_info(part.id).size);
}

std::span<std::byte> PacketSpec::edit(Part& part) {
  if (!part.nested_in) return part.bytes;
  const std::span<std::byte> outer =
      *part.nested_in == kInPayload ? std::span<std::byte>{payload_} : edit(parts_[*part.nested_in]);
  return outer.subspan(part.nested_offset, header_info(part.id).size);
}

PacketSpec PacketSpec::for_opcode(Opcode opcode, RoceVersion version) {
  PacketSpec spec;
  const auto add = [&](HeaderId id) { spec.parts_.push_back(make_part(id)); };
  add(HeaderId::ethernet);
  switch (version) {
    case RoceVersion::v1:
      add(HeaderId::grh);
      break;
    case RoceVersion::v2_ipv6:
      add(HeaderId::ipv6);
      add(HeaderId::udp);
      break;
    case RoceVersion::v2_ipv4:
    case RoceVersion::none:
      add(HeaderId::ipv4);
      FieldOf<&Ipv4::dont_fragment>::set(spec.parts_.back().bytes.data(), true);
      add(HeaderId::udp);
      break;
  }
  add(HeaderId::bth);
  FieldOf<&Bth::opcode>::set(spec.parts_.back().bytes.data(), opcode);
  FieldOf<&Bth::becn>::set(spec.parts_.back().bytes.data(), opcode == Opcode::cnp);
  for (const HeaderId id : opcode_info(opcode).headers()) add(id);
  if (opcode_info(opcode).payload == PayloadRule::exactly_eight) spec.payload_.resize(8);
  spec.name_protocols();
  return spec;
}

/// Makes each header name the one behind it: EtherType, protocol, next header, port, bottom of stack.
void PacketSpec::name_protocols() {
  const auto ether_type_of = [](HeaderId id) {
    switch (id) {
      case HeaderId::vlan:
        return EtherType::vlan;
      case HeaderId::ipv6:
        return EtherType::ipv6;
      case HeaderId::grh:
        return EtherType::roce_v1;
      case HeaderId::mpls:
        return EtherType::mpls;
      case HeaderId::mac_control:
        return EtherType::mac_control;
      case HeaderId::cn_tag:
        return EtherType::cn_tag;
      case HeaderId::cnm:
        return EtherType::cnm;
      case HeaderId::ethernet:
        return EtherType::transparent_ethernet;
      case HeaderId::erspan2:
        return EtherType::erspan2;
      case HeaderId::erspan3:
        return EtherType::erspan3;
      case HeaderId::lldp_tlv:
        return EtherType::lldp;
      case HeaderId::arp:
        return EtherType::arp;
      default:
        return EtherType::ipv4;
    }
  };
  const auto protocol_of = [](HeaderId id) {
    switch (id) {
      case HeaderId::ipv4:
        return IpProtocol::ipv4;
      case HeaderId::ipv6:
        return IpProtocol::ipv6;
      case HeaderId::gre:
        return IpProtocol::gre;
      case HeaderId::mpls:
        return IpProtocol::mpls;
      case HeaderId::icmp:
        return IpProtocol::icmp;
      case HeaderId::igmp:
      case HeaderId::igmp_report:
        return IpProtocol::igmp;
      case HeaderId::icmpv6:
        return IpProtocol::icmpv6;
      case HeaderId::ipv6_router_alert:
        return IpProtocol::hop_by_hop;
      default:
        return IpProtocol::udp;
    }
  };
  const auto port_of = [](HeaderId id) {
    switch (id) {
      case HeaderId::vxlan:
        return kVxlanPort;
      case HeaderId::geneve:
        return kGenevePort;
      case HeaderId::mpls:
        return kMplsPort;
      default:
        return kRocePort;
    }
  };
  for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
    std::byte* bytes = parts_[i].bytes.data();
    // Options do not name a protocol: the header in front of them names the one behind them.
    std::size_t behind = i + 1;
    while (behind + 1 < parts_.size() && header_info(parts_[behind].id).size == 0) ++behind;
    const HeaderId next = parts_[behind].id;
    switch (parts_[i].id) {
      case HeaderId::ethernet:
        FieldOf<&Ethernet::ether_type>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::vlan:
        FieldOf<&VlanTag::ether_type>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::cn_tag:
        FieldOf<&CnTag::ether_type>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::sll:
        FieldOf<&LinuxSll::ether_type>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::sll2:
        FieldOf<&LinuxSll2::ether_type>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::geneve:
        FieldOf<&Geneve::protocol>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::gre:
        FieldOf<&Gre::protocol>::set(bytes, ether_type_of(next));
        break;
      case HeaderId::ipv4:
        FieldOf<&Ipv4::protocol>::set(bytes, protocol_of(next));
        break;
      case HeaderId::ipv6:
        FieldOf<&Ipv6::next_header>::set(bytes, protocol_of(next));
        break;
      case HeaderId::udp:
        FieldOf<&Udp::destination_port>::set(bytes, port_of(next));
        break;
      case HeaderId::mpls:
        FieldOf<&MplsLabel::bottom>::set(bytes, next != HeaderId::mpls);
        break;
      default:
        break;
    }
  }
}

PacketSpec::Layout PacketSpec::lay_out() const {
  Layout layout;
  std::size_t offset = 0;
  std::size_t transport_payload = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    layout.offsets.push_back(offset);
    if (is_network(part.id) && !layout.bth) layout.network = i;
    if (part.id == HeaderId::bth && !layout.bth) layout.bth = i;
    offset += part.bytes.size();
    if (detail::is_transport_header(part.id)) transport_payload = offset;
  }
  layout.payload = offset;
  layout.pad = offset + payload_.size();
  if (pad_) {
    layout.pad_size = pad_->size();
  } else if (layout.bth && icrc_mode_ != IcrcMode::none) {
    layout.pad_size = (0 - (layout.pad - transport_payload)) & 3;
  }
  layout.icrc = layout.pad + layout.pad_size;
  const bool has_icrc = icrc_mode_ != IcrcMode::none && (layout.bth || icrc_mode_ == IcrcMode::value);
  layout.end = layout.icrc + (has_icrc ? 4 : 0);
  return layout;
}

void PacketSpec::fill_automatic(const Layout& layout, std::vector<std::byte>& bytes) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<std::byte> header{bytes.data() + layout.offsets[i], parts_[i].bytes.size()};
    const std::size_t length = layout.end - layout.offsets[i];
    for (const FieldInfo* field : parts_[i].automatic) {
      std::uint64_t value = length;
      if (field->name == "payload_length") value = length - header.size();
      if (field->name == "pad_count") value = layout.pad_size;
      if (field->name == "checksum") {
        value = detail::checksum_of_ipv4_at(bytes, layout.offsets[i]);
      }
      set_field_number(*field, header, value);
    }
  }
}

SpecResult<std::vector<std::byte>> PacketSpec::build() const {
  const Layout layout = lay_out();
  std::vector<std::byte> bytes;
  const auto append = [&](const std::vector<std::byte>& more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  for (const Part& part : parts_) append(part.bytes);
  append(payload_);
  if (pad_) append(*pad_);
  bytes.resize(layout.end);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].automatic.empty() || layout.end - layout.offsets[i] <= 0xFFFF) continue;
    return tl::unexpected(SpecError{qualified_name(i), qualified_name(i) + ": " +
                                                           std::to_string(layout.end - layout.offsets[i]) +
                                                           " bytes do not fit its length field (65535 at most)"});
  }
  fill_automatic(layout, bytes);
  if (layout.end != layout.icrc) {
    std::uint32_t icrc = icrc_;
    if (icrc_mode_ != IcrcMode::value) {
      if (!layout.network) {
        return tl::unexpected(SpecError{"icrc",
                                        "icrc: it begins with an IP header or GRH in front of the BTH, and there "
                                        "is none; add one to the headers, or set icrc to a number or none"});
      }
      const std::size_t start = layout.offsets[*layout.network];
      icrc = compute_icrc(Bytes{bytes.data() + start, layout.icrc - start}, parts_[*layout.network].id,
                          layout.offsets[*layout.bth] - start);
      if (icrc_mode_ == IcrcMode::wrong) icrc = ~icrc;
    }
    store_big_endian<4>(bytes.data() + layout.icrc, __builtin_bswap32(icrc));
    // The checksum of an IPv4 header that claims to be longer than it is may cover the ICRC, but the ICRC does not
    // cover a checksum.
    fill_automatic(layout, bytes);
  }
  append(trailer_);
  return bytes;
}

PacketSpec PacketSpec::from_packet(const Packet& packet) {
  PacketSpec spec;
  std::size_t end = 0;
  std::vector<std::size_t> starts;
  const bool has_lldp = packet.kind() == PacketKind::lldp;
  visit_headers(packet, [&](const HeaderInfo& info, Bytes header, std::size_t offset) {
    Part part{info.id, {header.begin(), header.end()}, automatic_fields(info.id), {}, 0};
    if (has_lldp && offset >= packet.payload_offset()) {
      part = {info.id, {}, {}, kInPayload, offset - packet.payload_offset()};
    } else if (offset < end) {
      std::size_t outer = spec.parts_.size() - 1;
      while (starts[outer] > offset || spec.parts_[outer].nested_in) --outer;
      part = {info.id, {}, {}, outer, offset - starts[outer]};
    } else {
      end = offset + header.size();
    }
    starts.push_back(offset);
    spec.parts_.push_back(std::move(part));
  });
  const Bytes all = packet.bytes();
  const auto copy = [&](std::size_t from, std::size_t to) {
    return std::vector<std::byte>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                  all.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (packet.has_icrc()) {
    const std::size_t pad = packet.icrc_offset() - packet.pad().size();
    spec.payload_ = copy(end, pad);
    spec.pad_ = copy(pad, packet.icrc_offset());
    spec.icrc_mode_ = IcrcMode::value;
    spec.icrc_ = packet.stored_icrc();
    spec.trailer_ = copy(packet.icrc_offset() + std::size_t{4}, all.size());
  } else {
    spec.payload_ = copy(end, all.size());
    spec.icrc_mode_ = IcrcMode::none;
    spec.pad_.emplace();
  }
  // Values that would be computed anyway are not kept: first the pad, on which the lengths depend, then the fields in
  // wire order, last the ICRC.
  if (packet.has_icrc()) {
    const std::vector<std::byte> pad = std::move(*spec.pad_);
    spec.pad_.reset();
    if (pad != std::vector<std::byte>(spec.lay_out().pad_size)) spec.pad_ = pad;
  }
  const Layout layout = spec.lay_out();
  for (std::size_t i = 0; i < spec.parts_.size(); ++i) {
    Part& part = spec.parts_[i];
    for (std::size_t f = 0; f < part.automatic.size();) {
      const FieldInfo* field = part.automatic[f];
      std::vector<std::byte> computed{all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), layout.end))};
      spec.fill_automatic(layout, computed);
      const Bytes header{computed.data() + layout.offsets[i], part.bytes.size()};
      if (field_number(*field, header) == field_number(*field, part.bytes)) {
        ++f;
      } else {
        part.automatic.erase(part.automatic.begin() + static_cast<std::ptrdiff_t>(f));
      }
    }
    // Computed fields are zero in the bytes, so that equal packets have equal specifications.
    for (const FieldInfo* field : part.automatic) set_field_number(*field, part.bytes, 0);
  }
  if (packet.has_icrc() && layout.network && check_icrc(packet).computed == packet.stored_icrc()) {
    spec.icrc_mode_ = IcrcMode::automatic;
    spec.icrc_ = 0;
  }
  return spec;
}

}  // namespace roce
