// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/line_info.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

#include "roce/wire/all_headers.h"
#include "roce/wire/fields.h"
#include "roce/wire/visit.h"

namespace roce::analyze {

namespace {

template <typename Format, typename... Args>
void item(TextBuffer& out, const Format& format, const Args&... args) {
  append(out, "  ");
  fmt::format_to(std::back_inserter(out), format, args...);
}

void append_aeth(TextBuffer& out, const Aeth& aeth, const Palette& palette) {
  const AethSyndrome syndrome = aeth.syndrome;
  append(out, "  ");
  if (syndrome == AethSyndrome::ack()) {
    append(out, "ACK");
  } else if (syndrome.kind() == AethKind::ack) {
    append(out, to_string(syndrome));
  } else {
    append(out, syndrome.kind() == AethKind::rnr_nak ? palette.caution : palette.bad);
    append(out, to_string(syndrome));
    append(out, palette.reset);
  }
  append(out, " MSN ");
  append_number(out, aeth.msn.value());
}

/// A field of a header by the names of its values, or as the table shows it.
std::string named(const FieldInfo& field, Bytes header) {
  const std::string_view name = is_octets(field) ? std::string_view{} : field.value_name(field_number(field, header));
  return name.empty() ? field_text(field, header) : std::string{name};
}

/// The fields of a connection management message that tie it to its connection, as far as it has them.
void append_management(TextBuffer& out, const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    const HeaderInfo& header = header_info(layer.id);
    const Bytes bytes = packet.layer_bytes(layer);
    if (layer.id == HeaderId::mad) {
      item(out, FMT_COMPILE("{}"), named(*find_field(header, "attribute_id"), bytes));
      continue;
    }
    if (layer.id < HeaderId::cm_req || layer.id > HeaderId::cma) continue;
    for (const std::string_view name :
         {"local_comm_id", "remote_comm_id", "request_id", "local_qpn", "remote_qpn", "qpn", "starting_psn", "message",
          "reason", "status", "source_address", "destination_address", "source_port"}) {
      if (const FieldInfo* field = find_field(header, name)) {
        item(out, FMT_COMPILE("{} {}"), name, named(*field, bytes));
      }
    }
  }
}

void append_transport(TextBuffer& out, const DecodedPacket& decoded, const Palette& palette) {
  const Packet& packet = decoded.packet;
  const OpcodeInfo& info = packet.info();
  const Bth bth = packet.bth();
  for (const HeaderId id : info.headers()) {
    switch (id) {
      case HeaderId::aeth:
        if (const auto aeth = packet.get<Aeth>()) append_aeth(out, *aeth, palette);
        break;
      case HeaderId::reth:
        if (const auto reth = packet.get<Reth>()) {
          append(out, "  va ");
          append_hex(out, reth->virtual_address, 16);
          append(out, " rkey ");
          append_hex(out, reth->r_key.value(), 8);
          append(out, " dma ");
          append_number(out, reth->dma_length);
        }
        break;
      case HeaderId::atomiceth:
        if (const auto atomic = packet.get<AtomicEth>()) {
          append(out, "  va ");
          append_hex(out, atomic->virtual_address, 16);
          append(out, " rkey ");
          append_hex(out, atomic->r_key.value(), 8);
          if (info.operation == Operation::compare_swap) {
            item(out, FMT_COMPILE("compare {:#x} swap {:#x}"), atomic->compare, atomic->swap_or_add);
          } else {
            item(out, FMT_COMPILE("add {:#x}"), atomic->swap_or_add);
          }
        }
        break;
      case HeaderId::atomicacketh:
        if (const auto answer = packet.get<AtomicAckEth>()) item(out, FMT_COMPILE("original {:#x}"), answer->original);
        break;
      case HeaderId::immdt:
        if (const auto immediate = packet.get<ImmDt>()) {
          append(out, "  imm ");
          append_hex(out, immediate->data, 8);
        }
        break;
      case HeaderId::ieth:
        if (const auto ieth = packet.get<Ieth>()) item(out, FMT_COMPILE("invalidate {:#010x}"), ieth->r_key.value());
        break;
      case HeaderId::deth:
        if (const auto deth = packet.get<Deth>()) {
          append(out, "  from QP ");
          append_hex(out, deth->source_qp.value(), 6);
          append(out, " qkey ");
          append_hex(out, deth->q_key.value(), 8);
        }
        break;
      case HeaderId::rdeth:
        if (const auto rdeth = packet.get<Rdeth>()) item(out, FMT_COMPILE("EE {:#08x}"), rdeth->ee_context.value());
        break;
      case HeaderId::xrceth:
        if (const auto xrc = packet.get<XrcEth>()) item(out, FMT_COMPILE("SRQ {:#08x}"), xrc->xrc_srq.value());
        break;
      case HeaderId::feth:
        if (const auto feth = packet.get<Feth>()) {
          item(out, FMT_COMPILE("flush {}{}{}"), feth->visibility ? "visible " : "",
               feth->persistence ? "persistent " : "",
               feth->selectivity == FlushSelectivity::memory_region ? "whole region" : "range");
        }
        break;
      default:
        break;
    }
  }
  if (info.service == Service::ud && bth.dest_qp == Qpn{1}) append_management(out, packet);
  if (packet.payload_length() != 0) {
    append(out, "  data ");
    append_number(out, packet.payload_length());
  }
  if (bth.ack_req) append(out, "  AckReq");
  if (bth.solicited) append(out, "  SE");
  if (bth.fecn) append(out, "  FECN");
  if (bth.becn) append(out, "  BECN");
  if (bth.p_key != kDefaultPKey) item(out, FMT_COMPILE("pkey {:#06x}"), bth.p_key.value());
  constexpr std::uint8_t kCongestionExperienced = 3;
  if ((packet.net().traffic_class & 3) == kCongestionExperienced) {
    append(out, "  ");
    append(out, palette.caution);
    append(out, "CE");
    append(out, palette.reset);
  }
  if (packet.version() == RoceVersion::v1) append(out, "  RoCEv1");
}

void append_control(TextBuffer& out, const Packet& packet) {
  if (const auto pfc = packet.get<Pfc>()) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      if (!pfc->enabled(priority)) continue;
      if (pfc->timer(priority) == 0) {
        item(out, FMT_COMPILE("priority {} resume"), priority);
      } else {
        item(out, FMT_COMPILE("priority {} pause {} quanta"), priority, pfc->timer(priority));
      }
    }
  }
  if (const auto pause = packet.get<Pause>()) {
    if (pause->quanta == 0) {
      append(out, "  resume");
    } else {
      item(out, FMT_COMPILE("pause {} quanta"), pause->quanta);
    }
  }
  if (const auto cnm = packet.get<Cnm>()) {
    item(out, FMT_COMPILE("cpid {:#018x} feedback {} QOffset {} QDelta {}"), cnm->cpid, cnm->quantized_feedback,
         cnm->q_offset, cnm->q_delta);
  }
}

/// What frames of other protocols are, as far as their headers were followed.
void append_other(TextBuffer& out, const Packet& packet) {
  const LayerList layers = packet.layers();
  if (layers.empty()) return;
  const Layer& last = layers.back();
  const HeaderInfo& header = header_info(last.id);
  for (const std::string_view name : {"srcport", "dstport", "type", "protocol", "next_header"}) {
    if (const FieldInfo* field = find_field(header, name)) {
      item(out, FMT_COMPILE("{}.{} {}"), header.name, name, named(*field, packet.layer_bytes(last)));
    }
  }
}

/// Tags and tunnels around the packet.
void append_encapsulation(TextBuffer& out, const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    const HeaderInfo& header = header_info(layer.id);
    switch (layer.id) {
      case HeaderId::bth:
        return;
      case HeaderId::vlan: {
        const auto tag = read<VlanTag>(packet.layer_bytes(layer).data());
        item(out, FMT_COMPILE("VLAN {} priority {}"), tag.vlan_id, tag.priority);
        break;
      }
      case HeaderId::vxlan:
      case HeaderId::geneve:
      case HeaderId::gre:
      case HeaderId::erspan2:
      case HeaderId::erspan3:
      case HeaderId::mpls:
      case HeaderId::cn_tag:
        item(out, FMT_COMPILE("in {}"), header.title);
        break;
      default:
        break;
    }
  }
}

}  // namespace

void append_info(TextBuffer& out, const DecodedPacket& decoded, const Palette& palette) {
  const Packet& packet = decoded.packet;
  if (packet.is_roce()) {
    append_transport(out, decoded, palette);
  } else if (packet.kind() == PacketKind::lldp) {
    std::size_t tlvs = 0;
    visit_headers(packet, [&](const HeaderInfo& header, Bytes bytes, std::size_t) {
      if (header.id == HeaderId::lldp_tlv) ++tlvs;
      if (header.id >= HeaderId::dcbx_ets && header.id <= HeaderId::dcbx_app)
        item(out, FMT_COMPILE("{}"), header.title);
      if (header.id == HeaderId::dcbx_app_entry) {
        const auto entry = read<DcbxAppEntry>(bytes.data());
        item(out, FMT_COMPILE("{} {} priority {}"), named(*find_field(header, "selector"), bytes), entry.protocol,
             entry.priority);
      }
    });
    item(out, FMT_COMPILE("{} TLVs"), tlvs);
  } else if (packet.kind() == PacketKind::other) {
    append_other(out, packet);
  } else {
    append_control(out, packet);
  }
  append_encapsulation(out, decoded.whole);
  const ParseError& problem = packet.problem();
  if (problem.reason != ParseReason::none && problem.reason != ParseReason::not_roce) {
    append(out, "  ");
    append(out, palette.caution);
    append(out, "[");
    append(out, to_string(problem));
    append(out, "]");
    append(out, palette.reset);
  }
  if (!decoded.frame.comment.empty()) {
    append(out, "  \"");
    append_printable(out, decoded.frame.comment);
    append(out, "\"");
  }
}

}  // namespace roce::analyze
