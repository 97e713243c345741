// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/decode/line_info.h"

#include <fmt/compile.h>

#include "packet_text/packet_text.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/fields.h"
#include "roce/wire/visit.h"

namespace roce::analyze {

namespace {

/// Appends what a frame of another protocol is, as far as its headers could be followed.
void append_other(text::TextBuffer& out, const Packet& packet) {
  const LayerList layers = packet.layers();
  if (layers.empty()) return;
  const Layer& last = layers.back();
  const HeaderInfo& header = header_info(last.id);
  for (const std::string_view name : {"srcport", "dstport", "type", "protocol", "next_header"}) {
    if (const FieldInfo* field = find_field(header, name)) {
      packet_text::append_item(out, FMT_COMPILE("{}.{} {}"), header.name, name,
                               packet_text::value_text(*field, packet.layer_bytes(last)));
    }
  }
}

/// Appends the tags and tunnels around the packet.
void append_encapsulation(text::TextBuffer& out, const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    const HeaderInfo& header = header_info(layer.id);
    switch (layer.id) {
      case HeaderId::bth:
        return;
      case HeaderId::vlan: {
        const auto tag = read<VlanTag>(packet.layer_bytes(layer).data());
        packet_text::append_item(out, FMT_COMPILE("VLAN {} priority {}"), tag.vlan_id, tag.priority);
        break;
      }
      case HeaderId::vxlan:
      case HeaderId::geneve:
      case HeaderId::gre:
      case HeaderId::erspan2:
      case HeaderId::erspan3:
      case HeaderId::mpls:
      case HeaderId::cn_tag:
        packet_text::append_item(out, FMT_COMPILE("in {}"), header.title);
        break;
      default:
        break;
    }
  }
}

}  // namespace

void append_info(text::TextBuffer& out, const packet_text::DecodedPacket& decoded, const text::Palette& palette) {
  const Packet& packet = decoded.packet;
  if (packet.kind() == PacketKind::lldp) {
    std::size_t tlvs = 0;
    visit_headers(packet, [&](const HeaderInfo& header, Bytes bytes, std::size_t) {
      if (header.id == HeaderId::lldp_tlv) ++tlvs;
      if (header.id >= HeaderId::dcbx_ets && header.id <= HeaderId::dcbx_app)
        packet_text::append_item(out, FMT_COMPILE("{}"), header.title);
      if (header.id == HeaderId::dcbx_app_entry) {
        const auto entry = read<DcbxAppEntry>(bytes.data());
        packet_text::append_item(out, FMT_COMPILE("{} {} priority {}"),
                                 packet_text::value_text(*find_field(header, "selector"), bytes), entry.protocol,
                                 entry.priority);
      }
    });
    packet_text::append_item(out, FMT_COMPILE("{} TLVs"), tlvs);
  } else if (packet.kind() == PacketKind::other) {
    append_other(out, packet);
  } else {
    packet_text::append_packet_text(out, packet, palette);
  }
  append_encapsulation(out, decoded.whole);
  const ParseError& problem = packet.problem();
  if (problem.reason != ParseReason::none && problem.reason != ParseReason::not_roce) {
    text::append(out, "  ");
    text::append(out, palette.caution);
    text::append(out, "[");
    text::append(out, to_string(problem));
    text::append(out, "]");
    text::append(out, palette.reset);
  }
  if (!decoded.frame.comment.empty()) {
    text::append(out, "  \"");
    text::append_printable(out, decoded.frame.comment);
    text::append(out, "\"");
  }
}

}  // namespace roce::analyze
