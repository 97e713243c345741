// SPDX-License-Identifier: BSD-2-Clause
// Incoming packets: the checks that drop a packet without an answer, then delivery to its QP (IBTA vol. 1, 9.6).
#include <algorithm>
#include <vector>

#include "roce/transport/address.h"
#include "roce/transport/shard.h"
#include "roce/wire/checksum.h"
#include "roce/wire/constants.h"
#include "roce/wire/grh.h"
#include "roce/wire/icrc.h"
#include "transport/completion.h"
#include "transport/datagram.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/receive.h"

namespace roce::transport {

namespace detail {

bool p_keys_match(PKey a, PKey b) {
  if (fault(Fault::pkey_whole)) return a == b;
  if (fault(Fault::pkey_zero_ok) && a.partition() == 0) return true;
  return a.partition() != 0 && a.partition() == b.partition() && (a.is_full_member() || b.is_full_member());
}

void count_received(Qp& qp, const Packet& packet) {
  ++qp.counters.received_packets;
  qp.counters.received_bytes += packet.icrc_offset() + kIcrcSize - packet.bth_offset();
}

void note_established(DeviceState& device, Qp& qp) {
  // QP-06 (the first packet in RTR makes the event communication established)
  if (qp.resp.established) return;
  qp.resp.established = true;
  if (qp.state == QpState::rtr && !fault(Fault::no_established)) {
    device.report(Event{.type = EventType::communication_established, .qpn = qp.qpn});
  }
}

namespace {

// NET-14 (a packet cut short or with an unknown opcode is dropped in silence)
[[nodiscard]] bool is_whole(const Packet& packet) {
  return packet.is_roce() && packet.has_icrc() && packet.info().defined();
}

/// True if an Ethernet frame is for this port (NET-22): if it goes to the port's own address, or to the address of the
/// multicast group that the packet is sent to and that a QP of the port is attached to.
[[nodiscard]] bool is_to_our_mac(const DeviceState& device, const Packet& packet) {
  const MacAddress destination = FieldOf<&Ethernet::destination>::get(packet.bytes().data());
  if (destination == device.config.mac) return true;
  const Gid group = packet.net().destination;
  return is_multicast(group) && destination == multicast_mac(group) &&
         std::ranges::any_of(device.groups, [&](const auto& member) { return member.first == group; });
}

/// True if the IP or UDP length is 0. The codec takes that to mean "up to the end", because offloads leave 0 in
/// captures; no RNIC accepts it from a wire.
[[nodiscard]] bool has_no_length(const Packet& packet) {
  const std::byte* const network = packet.bytes().data() + packet.network_offset();
  switch (packet.network_header()) {
    case HeaderId::ipv4:
      if (FieldOf<&Ipv4::total_length>::get(network) == 0) return true;
      break;
    case HeaderId::ipv6:
      if (FieldOf<&Ipv6::payload_length>::get(network) == 0) return true;
      break;
    default:
      return false;
  }
  return FieldOf<&Udp::length>::get(packet.bytes().data() + packet.bth_offset() - kSize<Udp>) == 0;
}

/// True for a tag of a VLAN around another tag: whatever is in the inner one, the frame is of a VLAN that no GID is in.
[[nodiscard]] bool is_outer_vlan(const Packet& packet, const Layer* layer) {
  if (layer->id != HeaderId::vlan || (layer + 1)->id != HeaderId::vlan) return false;
  return FieldOf<&VlanTag::vlan_id>::get(packet.layer_bytes(*layer).data()) != 0;
}

/// Returns the counter for a packet that its headers in front of the BTH keep out; nullptr if they let it in.
[[nodiscard]] std::uint64_t Counters::*objection_to(const DeviceState& device, const Packet& packet) {
  // A link that hides the headers has already checked them.
  if (packet.network_header() == HeaderId::none) return nullptr;
  const std::uint32_t network = packet.network_offset();
  const bool is_ipv4 = packet.network_header() == HeaderId::ipv4;
  const bool is_usual =
      is_ipv4 && network == kSize<Ethernet> && packet.bth_offset() == network + kSize<Ipv4> + kSize<Udp>;
  bool has_ethernet = is_usual;
  bool has_options = false;
  if (!is_usual) {
    const LayerList layers = packet.layers();
    const Layer* layer = layers.begin();
    has_ethernet = layer->id == HeaderId::ethernet;
    if (has_ethernet) ++layer;
    for (; layer->id == HeaderId::vlan || layer->id == HeaderId::cn_tag; ++layer) {
      if (is_outer_vlan(packet, layer)) return &Counters::malformed;
    }
    if (layer->offset != network) return &Counters::malformed;
    ++layer;
    has_options = layer->id == HeaderId::ipv4_options || layer->id == HeaderId::ipv6_extension;
  }
  if (has_ethernet && !is_to_our_mac(device, packet)) return &Counters::wrong_mac;
  // NET-23 (dropped and counted: options, a length of 0, a wrong IPv4 header checksum)
  if (has_options) return &Counters::ip_options;
  if (has_no_length(packet)) return &Counters::malformed;
  if (!is_ipv4) return nullptr;
  const Bytes header = packet.bytes().subspan(network, kSize<Ipv4>);
  if (fault(Fault::ip_checksum_ignored)) return nullptr;
  return internet_checksum(header) == 0 ? nullptr : &Counters::ip_checksum_errors;
}

[[nodiscard]] bool service_fits(const Qp& qp, const OpcodeInfo& info) {
  const Service service = info.service;
  if (fault(Fault::service_ignored) && !qp.is_datagram()) return true;
  switch (qp.init.type) {
    case QpType::rc:
      return service == Service::rc;
    case QpType::uc:
      return service == Service::uc;
    case QpType::ud:
    case QpType::gsi:
      return service == Service::ud;
    // XRC-03 (an initiator takes responses only, a target requests only)
    case QpType::xrc_initiator:
      return service == Service::xrc && info.is_response();
    case QpType::xrc_target:
      return service == Service::xrc && !info.is_response();
  }
  return false;
}

/// True if a packet of a connection comes from and goes to the connection's addresses, in its VLAN (NET-15).
[[nodiscard]] bool is_of_connection(const Qp& qp, const Packet& packet) {
  const NetMeta& ours = qp.path.net;
  if (fault(Fault::address_ignored)) return true;
  if (fault(Fault::family_ignored) && packet.net().version != ours.version) return true;
  if (fault(Fault::version_ignored) && packet.is_between(packet.version(), ours.destination, ours.source)) return true;
  if (!packet.is_between(ours.version, ours.destination, ours.source)) return false;
  // A link without Ethernet headers does not report the VLAN.
  if (packet.network_header() == HeaderId::none || fault(Fault::vlan_ignored)) return true;
  // A tag with VLAN id 0 carries only a priority.
  return (packet.vlan_tci().value_or(0) & kVlanIdMask) == qp.path.vlan_id.value_or(0);
}

/// Keeps all QPs from NAKing a gap.
void latch_all(const DeviceState& device) {
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp != nullptr) qp->resp.nak_latched = true;
  }
}

/// Counts a packet that is dropped in silence.
void drop(const DeviceState& device, Counters& counters, std::uint64_t Counters::*counter) {
  ++(counters.*counter);
  if (fault(Fault::drop_latches)) latch_all(device);
}

/// Executes a WRITE in a state that takes none: a fault.
void write_in_any_state(DeviceState& device, Qp& qp, const Packet& packet) {
  if (packet.info().operation == Operation::write) static_cast<void>(take_write_payload(device, qp, packet));
}

/// Completes the last request of a QP once more if the packet is a response: a fault.
void complete_late(DeviceState& device, Qp& qp, const Packet& packet) {
  const Completion completion{.wr_id = qp.req.wqe(qp.req.head - 1).wr_id, .qpn = qp.qpn};
  if (packet.info().is_response() && qp.send_cq != nullptr) push_completion(device, *qp.send_cq, completion, true);
}

void deliver(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  const OpcodeInfo& info = packet.info();
  if (info.service == Service::cnp) {
    count_received(qp, packet);
    return on_cnp(qp, packet, now);
  }
  if (fault(Fault::init_executes) && qp.state == QpState::init) return write_in_any_state(device, qp, packet);
  if (fault(Fault::err_executes) && qp.state == QpState::err) return write_in_any_state(device, qp, packet);
  if (fault(Fault::late_ack_completes) && qp.state == QpState::err) return complete_late(device, qp, packet);
  // QP-05 (packets in other states or of other services are dropped in silence)
  if (!service_fits(qp, info) || qp.state == QpState::reset || qp.state == QpState::init || qp.state == QpState::err) {
    return drop(device, qp.counters, &Counters::wrong_state);
  }
  if (qp.is_datagram()) return receive_datagram(device, qp, packet, now);
  if (!is_of_connection(qp, packet) && !(fault(Fault::answers_from_anyone) && info.is_response())) {
    return drop(device, qp.counters, &Counters::wrong_address);
  }
  if (!p_keys_match(bth.p_key, qp.p_key)) return drop(device, qp.counters, &Counters::p_key_violations);
  count_received(qp, packet);
  on_congestion_mark(device, qp, packet, now);
  if (fault(Fault::answers_run) && qp.init.type == QpType::rc) return on_request(device, qp, packet, bth, now);
  if (qp.init.type == QpType::uc) {
    on_unreliable(device, qp, packet, bth);
  } else if (info.is_response()) {
    on_response(device, qp, packet, bth, now);
  } else {
    on_request(device, qp, packet, bth, now);
  }
}

/// Takes a packet with the opcode of a FIRST on UD like the only one of its message: a fault.
void take_first_datagram(DeviceState& device, const Packet& packet, Time now) {
  constexpr std::uint8_t first = 0x60;
  if (packet.bth().opcode != Opcode{first}) return;
  std::vector<std::byte> bytes{packet.bytes().begin(), packet.bytes().end()};
  bytes[packet.bth_offset()] = static_cast<std::byte>(Opcode::ud_send_only);
  const Packet only = parse_frame(bytes, LinkType::ethernet);
  if (Qp* qp = device.find_qp(only.bth().dest_qp)) deliver(device, *qp, only, only.bth(), now);
}

/// Takes an IPv4 packet as if two of its bytes were others, whatever its ICRC is: a fault.
void take_with(DeviceState& device, const Packet& packet, std::size_t offset, std::uint16_t word, Time now) {
  std::vector<std::byte> bytes{packet.bytes().begin(), packet.bytes().end()};
  const std::array both{static_cast<std::byte>(word >> 8U), static_cast<std::byte>(word & 0xFFU)};
  if (bytes.size() < offset + both.size() || std::ranges::equal(both, std::span{bytes}.subspan(offset, both.size()))) {
    return;
  }
  std::ranges::copy(both, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  const Packet changed = parse_frame(bytes, LinkType::ethernet);
  if (!is_whole(changed)) return;
  if (Qp* qp = device.find_qp(changed.bth().dest_qp)) deliver(device, *qp, changed, changed.bth(), now);
}

/// Takes an IPv4 packet with an RC opcode that is not defined as a SEND: a fault.
void take_reserved(DeviceState& device, const Packet& packet, Time now) {
  constexpr std::size_t bth = kSize<Ethernet> + kSize<Ipv4> + kSize<Udp>;
  constexpr std::uint8_t rc_opcodes = 0x20;
  if (packet.bytes().size() < bth + kSize<Bth> || is_whole(packet)) return;
  const std::uint64_t first = load_big_endian<2>(packet.bytes().data() + bth);
  if (first >> 8U >= rc_opcodes) return;
  constexpr auto send = static_cast<unsigned>(Opcode::rc_send_only);
  take_with(device, packet, bth, static_cast<std::uint16_t>(send << 8U | (first & 0xFFU)), now);
}

/// Takes an IPv4 packet whose pad is longer than its payload as if it had no pad: a fault.
void take_without_pad(DeviceState& device, const Packet& packet, Time now) {
  constexpr std::size_t bth = kSize<Ethernet> + kSize<Ipv4> + kSize<Udp>;
  constexpr std::uint32_t pad_count = 0x30;
  if (packet.bytes().size() < bth + kSize<Bth> || is_whole(packet)) return;
  const std::uint64_t first = load_big_endian<2>(packet.bytes().data() + bth);
  take_with(device, packet, bth, static_cast<std::uint16_t>(first & ~std::uint64_t{pad_count}), now);
}

/// Takes a RoCE v1 packet as if the length in its GRH were that of the frame: a fault.
void take_whole_frame(DeviceState& device, const Packet& packet, Time now) {
  constexpr std::size_t behind_grh = kSize<Ethernet> + kSize<Grh>;
  if (packet.network_header() != HeaderId::grh || packet.bytes().size() < behind_grh) return;
  const auto length = static_cast<std::uint16_t>(packet.bytes().size() - behind_grh);
  take_with(device, packet, kSize<Ethernet> + 4, length, now);
}

/// Takes a fragment of an IPv6 packet as if it were a whole one: a fault.
void take_without_fragment_header(DeviceState& device, const Packet& packet, Time now) {
  constexpr std::size_t ip = kSize<Ethernet>;
  constexpr std::size_t fragment = ip + kSize<Ipv6>;
  constexpr std::size_t size = 8;
  constexpr std::size_t next_header = ip + 6;
  std::vector<std::byte> bytes{packet.bytes().begin(), packet.bytes().end()};
  if (packet.network_header() != HeaderId::ipv6 || bytes.size() < fragment + size) return;
  if (bytes[next_header] != static_cast<std::byte>(IpProtocol::fragment)) return;
  bytes[next_header] = static_cast<std::byte>(IpProtocol::udp);
  store_big_endian<2>(bytes.data() + ip + 4, load_big_endian<2>(bytes.data() + ip + 4) - size);
  bytes.erase(bytes.begin() + fragment, bytes.begin() + fragment + size);
  const Packet whole = parse_frame(bytes, LinkType::ethernet);
  if (!is_whole(whole)) return;
  if (Qp* qp = device.find_qp(whole.bth().dest_qp)) deliver(device, *qp, whole, whole.bth(), now);
}

/// True if a packet has no UDP checksum.
[[nodiscard]] bool is_without_udp_checksum(const Packet& packet) {
  if (packet.version() == RoceVersion::v1) return false;
  return FieldOf<&Udp::checksum>::get(packet.bytes().data() + packet.bth_offset() - kSize<Udp>) == 0;
}

}  // namespace
}  // namespace detail

using namespace detail;

void Device::prefetch(const Packet& packet) const {
  if (!packet.is_roce()) return;
  const std::uint32_t slot = packet.bth().dest_qp.value() >> state_->config.shard_bits & state_->slot_mask;
  if (slot == state_->prefetched) return;
  state_->prefetched = slot;
  if (const Qp* qp = state_->qps[slot].get()) qp->prefetch();
}

bool Device::admits(const Packet& packet) {
  if (!packet.is_roce()) return true;
  const auto objection = objection_to(*state_, packet);
  if (objection != nullptr) drop(*state_, state_->other, objection);
  return objection == nullptr;
}

void Device::receive(const Packet& packet, Time now) {
  DeviceState& device = *state_;
  if (fault(Fault::ud_first_ok) && packet.is_roce()) take_first_datagram(device, packet, now);
  constexpr std::size_t ip = kSize<Ethernet>;
  if (fault(Fault::ihl_ignored)) take_with(device, packet, ip, 0x4500, now);
  if (fault(Fault::fragment_runs)) take_with(device, packet, ip + 6, 0x4000, now);
  if (fault(Fault::dest_port_ignored)) take_with(device, packet, ip + kSize<Ipv4> + 2, kRocePort, now);
  if (fault(Fault::reserved_runs_as_send)) take_reserved(device, packet, now);
  if (fault(Fault::pad_beyond_ok)) take_without_pad(device, packet, now);
  if (fault(Fault::v1_payload_length_ignored)) take_whole_frame(device, packet, now);
  if (fault(Fault::fragment_6_runs)) take_without_fragment_header(device, packet, now);
  if (!is_whole(packet)) return drop(device, device.other, &Counters::malformed);
  if (!admits(packet)) return;
  const Bth bth = packet.bth();
  if (fault(Fault::reserved7_refused) && bth.reserved2 != 0) return;
  if (fault(Fault::migreq_required) && !bth.mig_req) return;
  if (fault(Fault::icrc_covers_ttl) && packet.net().hop_limit != NetMeta{}.hop_limit) return;
  if (fault(Fault::ce_dropped) && (packet.net().traffic_class & 3) == 3) return;
  if (fault(Fault::source_port_required) && packet.net().udp_source_port < 0xC000) return;
  if (fault(Fault::udp_zero_refused) && is_without_udp_checksum(packet)) return;
  if (fault(Fault::v1_icrc_as_v2) && packet.version() == RoceVersion::v1) return;
  if (fault(Fault::icrc_at_frame_end) && packet.bytes().size() > packet.icrc_offset() + kIcrcSize) return;
  if (fault(Fault::icrc_covers_resv8a) && (bth.fecn || bth.becn || bth.reserved1 != 0)) return;
  if ((bth.version != 0 && !fault(Fault::tver_ignored)) || bth.dest_qp.value() == 0) {
    return drop(device, device.other, &Counters::malformed);
  }
  const bool multicast = bth.dest_qp == kMulticastQpn && packet.info().service == Service::ud;
  Qp* qp = multicast ? nullptr : device.find_qp(bth.dest_qp);
  if (!multicast && qp == nullptr) return drop(device, device.other, &Counters::unknown_qp);
  // NET-14 (a packet with a wrong ICRC is dropped in silence)
  if (device.config.check_icrc && !fault(Fault::icrc_ignored)) {
    const IcrcStatus status = check_icrc(packet).status;
    // If a link hides the identification, any value that makes the ICRC right is accepted.
    if (status != IcrcStatus::good && status != IcrcStatus::good_for_ip_id) {
      return drop(device, qp != nullptr ? qp->counters : device.other, &Counters::icrc_errors);
    }
  }
  if (multicast) {
    receive_multicast(device, packet, now);
  } else {
    deliver(device, *qp, packet, bth, now);
  }
  settle_overflows(device);
}

}  // namespace roce::transport
