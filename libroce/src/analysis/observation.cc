// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/observation.h"

#include "roce/wire/all_headers.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/mac_control.h"

namespace roce::analysis {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E37'79B9'7F4A'7C15 + (hash << 6U) + (hash >> 2U);
  return hash * 0xFF51'AFD7'ED55'8CCD;
}

// VLAN ids and tunnels of the headers in front of the BTH; priorities and addresses do not count, they may change on
// the way.
std::uint64_t domain_of(const Packet& packet) {
  std::uint64_t domain = static_cast<std::uint64_t>(packet.version());
  for (const Layer& layer : packet.layers()) {
    if (layer.id == HeaderId::bth) break;
    const std::byte* bytes = packet.layer_bytes(layer).data();
    switch (layer.id) {
      case HeaderId::vlan:
        domain = mix(domain, load_big_endian<2>(bytes) & 0xFFFU);
        break;
      case HeaderId::vxlan:
        domain = mix(domain, 0x1'0000'0000U | FieldOf<&Vxlan::vni>::get(bytes));
        break;
      case HeaderId::geneve:
        domain = mix(domain, 0x2'0000'0000U | FieldOf<&Geneve::vni>::get(bytes));
        break;
      case HeaderId::gre:
      case HeaderId::mpls:
        domain = mix(domain, static_cast<std::uint64_t>(layer.id) << 32U);
        break;
      default:
        break;
    }
  }
  return domain;
}

CmFacts cm_facts(const Packet& packet) {
  CmFacts facts;
  const auto mad = packet.get<Mad>();
  if (!mad || cm_header_id(*mad) == HeaderId::none) return facts;
  if (const auto req = packet.get<CmReq>()) {
    facts = {mad->attribute_id, req->local_comm_id.value(), 0,
             req->local_qpn,    req->starting_psn,          static_cast<std::uint16_t>(to_bytes(req->path_mtu))};
  } else if (const auto rep = packet.get<CmRep>()) {
    facts = {mad->attribute_id, rep->local_comm_id.value(), rep->remote_comm_id.value(),
             rep->local_qpn,    rep->starting_psn,          0};
  } else if (const auto dreq = packet.get<CmDreq>()) {
    facts = {mad->attribute_id, dreq->local_comm_id.value(), dreq->remote_comm_id.value(), dreq->remote_qpn, Psn{}, 0};
  }
  return facts;
}

void observe_pause(const Packet& packet, Observation& seen) {
  if (const auto pfc = packet.get<Pfc>()) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      if (pfc->enabled(priority)) seen.pause_enabled = static_cast<std::uint8_t>(seen.pause_enabled | 1U << priority);
      seen.pause_quanta[priority] = pfc->timer(priority);
    }
  } else if (const auto pause = packet.get<Pause>()) {
    seen.pause_enabled = 0xFF;
    seen.pause_quanta.fill(pause->quanta);
  }
}

}  // namespace

Observation observe_packet(const Packet& packet, const IcrcVerdict& icrc, Time time, PacketId id) {
  Observation seen;
  seen.time = time;
  seen.id = id;
  seen.kind = packet.kind();
  seen.wire_length = packet.reported_length();
  if (const std::optional<Layer> ethernet = packet.find(HeaderId::ethernet)) {
    const std::byte* bytes = packet.layer_bytes(*ethernet).data();
    seen.source_mac = FieldOf<&Ethernet::source>::get(bytes);
    seen.destination_mac = FieldOf<&Ethernet::destination>::get(bytes);
  }
  if (!packet.is_roce()) {
    if (seen.kind == PacketKind::pfc || seen.kind == PacketKind::pause) observe_pause(packet, seen);
    return seen;
  }
  const NetMeta net = packet.net();
  seen.version = packet.version();
  seen.source = net.source;
  seen.destination = net.destination;
  // With nothing but Ethernet in front of the network header there is neither a tag nor a tunnel.
  seen.domain =
      packet.network_offset() == kSize<Ethernet> ? static_cast<std::uint64_t>(net.version) : domain_of(packet);
  seen.traffic_class = net.traffic_class;
  seen.hop_limit = net.hop_limit;
  seen.udp_source_port = net.udp_source_port;
  seen.has_ip_id = net.ip_id.has_value();
  seen.ip_id = net.ip_id.value_or(0);
  seen.priority = static_cast<std::uint8_t>(net.vlan_tci.value_or(0) >> 13U);

  const Bth bth = packet.bth();
  seen.opcode = bth.opcode;
  seen.dest_qp = bth.dest_qp;
  seen.psn = bth.psn;
  seen.ack_req = bth.ack_req;
  seen.solicited = bth.solicited;
  seen.payload_length = packet.payload_length();
  seen.is_whole = packet.problem().reason == ParseReason::none;
  seen.has_icrc = packet.has_icrc();
  if (seen.has_icrc) seen.icrc = packet.stored_icrc();
  seen.icrc_bad = icrc.status == IcrcStatus::bad;
  if (const auto aeth = packet.get<Aeth>()) {
    seen.has_aeth = true;
    seen.syndrome = aeth->syndrome;
    seen.msn = aeth->msn;
  }
  if (const auto reth = packet.get<Reth>()) {
    seen.has_reth = true;
    seen.virtual_address = reth->virtual_address;
    seen.r_key = reth->r_key;
    seen.dma_length = reth->dma_length;
  } else if (const auto atomic = packet.get<AtomicEth>()) {
    seen.has_atomic = true;
    seen.virtual_address = atomic->virtual_address;
    seen.r_key = atomic->r_key;
  }
  if (const auto deth = packet.get<Deth>()) seen.source_qp = deth->source_qp;
  if (bth.dest_qp == Qpn{1}) seen.cm = cm_facts(packet);
  return seen;
}

}  // namespace roce::analysis
