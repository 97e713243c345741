// SPDX-License-Identifier: BSD-2-Clause
// Reads an Observation, the part of a packet that is kept, from its headers.
#include "roce/analysis/observation.h"

#include <algorithm>

#include "analysis/mtu_range.h"
#include "roce/wire/all_headers.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/constants.h"
#include "roce/wire/mac_control.h"

namespace roce::analysis {

namespace {

// Times are limited to this, so that the difference of any two fits in a Duration.
constexpr Time kFarthest{Duration{(std::int64_t{1} << 62U) - 1}};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E37'79B9'7F4A'7C15 + (hash << 6U) + (hash >> 2U);
  return hash * 0xFF51'AFD7'ED55'8CCD;
}

// Returns a hash of RoCE version, VLAN ids and tunnels before the BTH (A-CON-1: they tell connections apart).
// Priorities and addresses are not in it: they may change on the way.
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

template <typename Message>
void take_ids(const Packet& packet, CmFacts& facts) {
  const auto message = packet.get<Message>();
  if (!message) return;
  facts.local_id = message->local_comm_id.value();
  facts.remote_id = message->remote_comm_id.value();
}

CmFacts cm_facts(const Packet& packet) {
  CmFacts facts;
  const auto mad = packet.get<Mad>();
  if (!mad || cm_header_id(*mad) == HeaderId::none) return facts;
  if (const auto req = packet.get<CmReq>()) {
    facts = {mad->attribute_id,  req->local_comm_id.value(), 0,
             req->local_qpn,     req->starting_psn,          static_cast<std::uint16_t>(to_bytes(req->path_mtu)),
             mad->transaction_id};
  } else if (const auto rep = packet.get<CmRep>()) {
    facts = {mad->attribute_id,  rep->local_comm_id.value(), rep->remote_comm_id.value(),
             rep->local_qpn,     rep->starting_psn,          0,
             mad->transaction_id};
  } else if (const auto dreq = packet.get<CmDreq>()) {
    facts = {mad->attribute_id,  dreq->local_comm_id.value(), dreq->remote_comm_id.value(), dreq->remote_qpn, Psn{}, 0,
             mad->transaction_id};
  } else {
    facts.attribute = mad->attribute_id;
    facts.transaction_id = mad->transaction_id;
    take_ids<CmRtu>(packet, facts);
    take_ids<CmRej>(packet, facts);
    take_ids<CmMra>(packet, facts);
    take_ids<CmDrep>(packet, facts);
  }
  return facts;
}

// Reads the first Ethernet header, which is the link's; a tunnel has another one inside. A-PFC-3 (outermost tag)
void observe_link(const std::byte* ethernet, Observation& seen) {
  seen.source_mac = FieldOf<&Ethernet::source>::get(ethernet);
  seen.destination_mac = FieldOf<&Ethernet::destination>::get(ethernet);
}

void observe_link_of(const Packet& packet, Observation& seen) {
  const LayerList layers = packet.layers();
  if (layers.empty() || layers[0].id != HeaderId::ethernet) return;
  observe_link(packet.bytes().data(), seen);
  if (layers.size() > 1 && layers[1].id == HeaderId::vlan) {
    seen.link_priority = FieldOf<&VlanTag::priority>::get(packet.layer_bytes(layers[1]).data());
  }
}

void observe_pause(const Packet& packet, Observation& seen) {
  observe_link_of(packet, seen);
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

// Reads the headers before the BTH.
void observe_network(const Packet& packet, Observation& seen) {
  const std::byte* network = packet.bytes().data() + packet.network_offset();
  switch (packet.network_header()) {
    case HeaderId::ipv4:
      seen.source = Gid::from_ipv4(FieldOf<&Ipv4::source>::get(network));
      seen.destination = Gid::from_ipv4(FieldOf<&Ipv4::destination>::get(network));
      seen.ip_id = FieldOf<&Ipv4::identification>::get(network);
      seen.has_ip_id = true;
      seen.hop_limit = FieldOf<&Ipv4::ttl>::get(network);
      seen.traffic_class = packet.traffic_class();
      break;
    case HeaderId::ipv6:
    case HeaderId::grh:
      // A GRH has the shape of an IPv6 header (IBTA vol. 1, 8.3).
      seen.source = FieldOf<&Ipv6::source>::get(network);
      seen.destination = FieldOf<&Ipv6::destination>::get(network);
      seen.hop_limit = FieldOf<&Ipv6::hop_limit>::get(network);
      seen.traffic_class = packet.traffic_class();
      break;
    default: {
      const NetMeta net = packet.net();
      seen.source = net.source;
      seen.destination = net.destination;
      seen.has_ip_id = net.ip_id.has_value();
      seen.ip_id = net.ip_id.value_or(0);
      seen.hop_limit = net.hop_limit;
      seen.traffic_class = net.traffic_class;
      // A packet of a super-frame begins with its BTH.
      seen.udp_source_port = net.udp_source_port;
      break;
    }
  }
  if (packet.version() != RoceVersion::v1 && packet.bth_offset() >= kSize<Udp>) {
    // The BTH directly follows the UDP header (A17).
    const std::byte* udp = packet.bytes().data() + packet.bth_offset() - kSize<Udp>;
    seen.udp_source_port = FieldOf<&Udp::source_port>::get(udp);
  }
  if (const std::optional<std::uint16_t> tci = packet.vlan_tci())
    seen.priority = static_cast<std::uint8_t>(*tci >> 13U);
  // If only an Ethernet header comes before the network header, there is neither a tag nor a tunnel.
  if (packet.network_offset() == kSize<Ethernet>) {
    seen.domain = static_cast<std::uint64_t>(packet.version());
    observe_link(packet.bytes().data(), seen);
  } else {
    seen.domain = domain_of(packet);
    observe_link_of(packet, seen);
  }
}

// A-CUT-1 (the BTH tells to which connection a packet belongs): true if nothing else is needed for that, or it was
// captured. A datagram is told from others by its source QP.
bool names_its_ends(const Packet& packet) {
  for (const HeaderId header : packet.info().headers()) {
    if (header == HeaderId::deth || header == HeaderId::rdeth) return packet.get<Deth>().has_value();
  }
  return true;
}

// Returns a digest of what the ICRC of a cut packet would cover, as far as it was captured.
std::uint32_t digest_of(const Packet& packet, const Observation& seen) {
  // The headers alone, so that frames that were cut after different lengths can be compared.
  const std::uint32_t begin = packet.bth_offset();
  const std::uint32_t end = std::max(packet.payload_offset(), begin);
  const Bytes bytes = packet.bytes().subspan(begin, std::min<std::size_t>(end, packet.bytes().size()) - begin);
  // The fifth byte has FECN and BECN, which may change on the way.
  constexpr std::size_t variant_byte = 4;
  std::uint64_t digest = mix(seen.ip_id, packet.payload_length());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i != variant_byte) digest = mix(digest, std::to_integer<std::uint64_t>(bytes[i]));
  }
  return static_cast<std::uint32_t>(digest >> 32U);
}

// A-CUT-4 (a frame with more payload than its packet may have was several packets)
bool exceeds_one_packet(const Observation& seen) {
  if (seen.payload_length > kMostMtu) return true;
  switch (seen.info().payload) {
    case PayloadRule::none:
      return seen.payload_length != 0;
    case PayloadRule::exactly_mtu:
      return !is_path_mtu(seen.payload_length);
    default:
      return seen.has_reth && seen.info().position == Position::only && seen.payload_length > seen.dma_length;
  }
}

}  // namespace

bool Observation::pauses() const {
  for (std::size_t i = 0; i < pause_quanta.size(); ++i) {
    if ((pause_enabled >> i & 1U) != 0 && pause_quanta[i] != 0) return true;
  }
  return false;
}

Time limited(Time time) {
  return std::clamp(time, Time{-kFarthest.time_since_epoch()}, kFarthest);
}

Observation observe_packet(const Packet& packet, const IcrcVerdict& icrc, Time time, PacketId id) {
  Observation seen;
  seen.time = limited(time);
  seen.id = id;
  seen.kind = packet.kind();
  seen.wire_length = packet.reported_length();
  if (!packet.is_roce()) {
    if (seen.kind == PacketKind::pfc || seen.kind == PacketKind::pause) observe_pause(packet, seen);
    return seen;
  }
  seen.version = packet.version();
  observe_network(packet, seen);
  const Bth bth = packet.bth();
  seen.opcode = bth.opcode;
  seen.dest_qp = bth.dest_qp;
  seen.psn = bth.psn;
  seen.ack_req = bth.ack_req;
  seen.solicited = bth.solicited;
  seen.pad_count = bth.pad_count;
  seen.transport_version = bth.version;
  seen.payload_length = packet.payload_length();
  seen.is_cut = packet.problem().reason == ParseReason::cut_short;
  seen.is_whole = packet.problem().reason == ParseReason::none || (seen.is_cut && names_its_ends(packet));
  seen.has_icrc = packet.has_icrc();
  if (seen.has_icrc) {
    seen.icrc = packet.stored_icrc();
  } else if (seen.is_cut) {
    seen.icrc = digest_of(packet, seen);
  }
  seen.icrc_bad = icrc.status == IcrcStatus::bad;
  seen.icrc_good = icrc.status == IcrcStatus::good || icrc.status == IcrcStatus::good_for_ip_id;
  for (const HeaderId header : packet.info().headers()) {
    switch (header) {
      case HeaderId::aeth:
        if (const auto aeth = packet.get<Aeth>()) {
          seen.has_aeth = true;
          seen.syndrome = aeth->syndrome;
          seen.msn = aeth->msn;
        }
        break;
      case HeaderId::reth:
        if (const auto reth = packet.get<Reth>()) {
          seen.has_reth = true;
          seen.virtual_address = reth->virtual_address;
          seen.r_key = reth->r_key;
          seen.dma_length = reth->dma_length;
        }
        break;
      case HeaderId::atomiceth:
        if (const auto atomic = packet.get<AtomicEth>()) {
          seen.has_atomic = true;
          seen.virtual_address = atomic->virtual_address;
          seen.r_key = atomic->r_key;
        }
        break;
      case HeaderId::deth:
        if (const auto deth = packet.get<Deth>()) seen.source_qp = deth->source_qp;
        break;
      default:
        break;
    }
  }
  seen.is_several = seen.is_cut && exceeds_one_packet(seen);
  if (bth.dest_qp == Qpn{1}) seen.cm = cm_facts(packet);
  return seen;
}

}  // namespace roce::analysis
