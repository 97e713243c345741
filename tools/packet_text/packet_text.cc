// SPDX-License-Identifier: BSD-2-Clause
#include "packet_text/packet_text.h"

#include "roce/wire/all_headers.h"
#include "roce/wire/fields.h"

namespace roce::packet_text {

namespace {

void append_aeth(text::TextBuffer& out, const Aeth& aeth, const text::Palette& palette) {
  const AethSyndrome syndrome = aeth.syndrome;
  text::append(out, "  ");
  if (syndrome == AethSyndrome::ack()) {
    text::append(out, "ACK");
  } else if (syndrome.kind() == AethKind::ack) {
    text::append(out, to_string(syndrome));
  } else {
    text::append(out, syndrome.kind() == AethKind::rnr_nak ? palette.caution : palette.bad);
    text::append(out, to_string(syndrome));
    text::append(out, palette.reset);
  }
  text::append(out, " MSN ");
  text::append_number(out, aeth.msn.value());
}

/// Appends the fields of a connection management message that link it to its connection, as far as it has them.
void append_management(text::TextBuffer& out, const Packet& packet) {
  for (const Layer& layer : packet.layers()) {
    const HeaderInfo& header = header_info(layer.id);
    const Bytes bytes = packet.layer_bytes(layer);
    if (layer.id == HeaderId::mad) {
      append_item(out, FMT_COMPILE("{}"), value_text(*find_field(header, "attribute_id"), bytes));
      continue;
    }
    if (layer.id < HeaderId::cm_req || layer.id > HeaderId::cma) continue;
    for (const std::string_view name :
         {"local_comm_id", "remote_comm_id", "request_id", "local_qpn", "remote_qpn", "qpn", "starting_psn", "message",
          "reason", "status", "source_address", "destination_address", "source_port"}) {
      if (const FieldInfo* field = find_field(header, name)) {
        const std::string ipv4 = ipv4_text(header, *field, bytes);
        append_item(out, FMT_COMPILE("{} {}"), name, ipv4.empty() ? value_text(*field, bytes) : ipv4);
      }
    }
  }
}

void append_transport(text::TextBuffer& out, const Packet& packet, const text::Palette& palette) {
  const OpcodeInfo& info = packet.info();
  const Bth bth = packet.bth();
  for (const HeaderId id : info.headers()) {
    switch (id) {
      case HeaderId::aeth:
        if (const auto aeth = packet.get<Aeth>()) append_aeth(out, *aeth, palette);
        break;
      case HeaderId::reth:
        if (const auto reth = packet.get<Reth>()) {
          text::append(out, "  va ");
          text::append_hex(out, reth->virtual_address, 16);
          text::append(out, " rkey ");
          text::append_hex(out, reth->r_key.value(), 8);
          text::append(out, " dma ");
          text::append_number(out, reth->dma_length);
        }
        break;
      case HeaderId::atomiceth:
        if (const auto atomic = packet.get<AtomicEth>()) {
          text::append(out, "  va ");
          text::append_hex(out, atomic->virtual_address, 16);
          text::append(out, " rkey ");
          text::append_hex(out, atomic->r_key.value(), 8);
          if (info.operation == Operation::compare_swap) {
            append_item(out, FMT_COMPILE("compare {:#x} swap {:#x}"), atomic->compare, atomic->swap_or_add);
          } else {
            append_item(out, FMT_COMPILE("add {:#x}"), atomic->swap_or_add);
          }
        }
        break;
      case HeaderId::atomicacketh:
        if (const auto answer = packet.get<AtomicAckEth>())
          append_item(out, FMT_COMPILE("original {:#x}"), answer->original);
        break;
      case HeaderId::immdt:
        if (const auto immediate = packet.get<ImmDt>()) {
          text::append(out, "  imm ");
          text::append_hex(out, immediate->data, 8);
        }
        break;
      case HeaderId::ieth:
        if (const auto ieth = packet.get<Ieth>())
          append_item(out, FMT_COMPILE("invalidate {:#010x}"), ieth->r_key.value());
        break;
      case HeaderId::deth:
        if (const auto deth = packet.get<Deth>()) {
          text::append(out, "  from QP ");
          text::append_hex(out, deth->source_qp.value(), 6);
          text::append(out, " qkey ");
          text::append_hex(out, deth->q_key.value(), 8);
        }
        break;
      case HeaderId::rdeth:
        if (const auto rdeth = packet.get<Rdeth>())
          append_item(out, FMT_COMPILE("EE {:#08x}"), rdeth->ee_context.value());
        break;
      case HeaderId::xrceth:
        if (const auto xrc = packet.get<XrcEth>()) append_item(out, FMT_COMPILE("SRQ {:#08x}"), xrc->xrc_srq.value());
        break;
      case HeaderId::feth:
        if (const auto feth = packet.get<Feth>()) {
          append_item(out, FMT_COMPILE("flush {}{}{}"), feth->visibility ? "visible " : "",
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
    text::append(out, "  data ");
    text::append_number(out, packet.payload_length());
  }
  if (bth.ack_req) text::append(out, "  AckReq");
  if (bth.solicited) text::append(out, "  SE");
  if (bth.fecn) text::append(out, "  FECN");
  if (bth.becn) text::append(out, "  BECN");
  if (bth.p_key != kDefaultPKey) append_item(out, FMT_COMPILE("pkey {:#06x}"), bth.p_key.value());
  constexpr std::uint8_t kCongestionExperienced = 3;
  if ((packet.net().traffic_class & 3) == kCongestionExperienced) {
    text::append(out, "  ");
    text::append(out, palette.caution);
    text::append(out, "CE");
    text::append(out, palette.reset);
  }
  if (packet.version() == RoceVersion::v1) text::append(out, "  RoCEv1");
}

void append_control(text::TextBuffer& out, const Packet& packet) {
  if (const auto pfc = packet.get<Pfc>()) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      if (!pfc->enabled(priority)) continue;
      if (pfc->timer(priority) == 0) {
        append_item(out, FMT_COMPILE("priority {} resume"), priority);
      } else {
        append_item(out, FMT_COMPILE("priority {} pause {} quanta"), priority, pfc->timer(priority));
      }
    }
  }
  if (const auto pause = packet.get<Pause>()) {
    if (pause->quanta == 0) {
      text::append(out, "  resume");
    } else {
      append_item(out, FMT_COMPILE("pause {} quanta"), pause->quanta);
    }
  }
  if (const auto cnm = packet.get<Cnm>()) {
    append_item(out, FMT_COMPILE("cpid {:#018x} feedback {} QOffset {} QDelta {}"), cnm->cpid, cnm->quantized_feedback,
                cnm->q_offset, cnm->q_delta);
  }
}

}  // namespace

std::string value_text(const FieldInfo& field, Bytes header) {
  const std::string_view name = is_octets(field) ? std::string_view{} : field.value_name(field_number(field, header));
  return name.empty() ? field_text(field, header) : std::string{name};
}

std::string ipv4_text(const HeaderInfo& header, const FieldInfo& field, Bytes bytes) {
  if (header.id != HeaderId::cma || field.format != FieldFormat::gid) return {};
  const auto cma = read<Cma>(bytes.data());
  const Gid& address = field.name == "source_address" ? cma.source_address : cma.destination_address;
  if (cma.ip_version != 4 || Cma::from_ipv4(address.ipv4()) != address) return {};
  return to_string(Gid::from_ipv4(address.ipv4()));
}

void append_packet_text(text::TextBuffer& out, const Packet& packet, const text::Palette& palette) {
  if (packet.is_roce()) {
    append_transport(out, packet, palette);
  } else {
    append_control(out, packet);
  }
}

}  // namespace roce::packet_text
