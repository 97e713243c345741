// SPDX-License-Identifier: BSD-2-Clause
// UD and GSI: single packets with a Q_Key, received behind a 40-byte header area (IBTA vol. 1, 9.8.3; annex A17).
#include "transport/datagram.h"

#include <array>
#include <cstring>

#include "roce/transport/address.h"
#include "roce/transport/shard.h"
#include "roce/wire/constants.h"
#include "roce/wire/deth.h"
#include "roce/wire/header_area.h"
#include "roce/wire/immdt.h"
#include "transport/completion.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/receive.h"
#include "transport/receive_queue.h"
#include "transport/scheduler.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kControlledQKey = 1U << 31;
/// The part of the header area that has an IPv4 header.
constexpr std::uint64_t kIpv4HeaderArea = 20;

/// Sends one datagram along a path that is built, or fails it if an L_Key is wrong; false if there is no room.
[[nodiscard]] bool send_datagram(DeviceState& device, Qp& qp, SendWqe& wqe, Path& path, Emitter& out, Time now) {
  Requester& req = qp.req;
  const bool immediate = wqe.opcode == WorkOpcode::send_with_immediate;
  const DatagramAddress& to = req.extra_of(wqe).datagram;
  const std::size_t headers = kSize<Deth> + (immediate ? kSize<ImmDt> : 0);
  std::byte* bytes = place(qp, path, out, packet_size(headers, wqe.length));
  if (bytes == nullptr) return false;
  Bth bth = bth_of(device, qp, immediate ? Opcode::ud_send_only_imm : Opcode::ud_send_only, wqe.first_psn);
  bth.solicited = wqe.solicited;
  bth.pad_count = pad_of(wqe.length);
  bth.dest_qp = path.multicast ? kMulticastQpn : to.qpn;
  bth.ack_req = qp.init.type == QpType::gsi && device.profile().gsi_asks_for_ack;
  write(bth, bytes);
  // UD-03 (bit 31 of the request's Q_Key means the sending QP's own)
  const bool own_key = (to.q_key.value() & kControlledQKey) != 0 && !fault(Fault::ud_qkey_literal);
  write(Deth{own_key ? qp.attributes.q_key : to.q_key, 0, qp.qpn}, bytes + kSize<Bth>);
  if (immediate) write(ImmDt{wqe.immediate}, bytes + kSize<Bth> + kSize<Deth>);
  std::byte* payload = bytes + kSize<Bth> + headers;
  if (!gather(device, qp, wqe, 0, wqe.length, payload)) {
    out.take_back();
    wqe.fail(CompletionStatus::local_protection_error);
    return true;
  }
  std::memset(payload + wqe.length, 0, bth.pad_count);
  send_placed(device, qp, out, now);
  req.sent_end = req.una = req.next_psn;
  wqe.done = true;
  return true;
}

/// Fails a datagram that must not be sent; true if it failed, now or when it was posted.
[[nodiscard]] bool has_failed(const DeviceState& device, const Qp& qp, SendWqe& wqe, const AddressHandle* ah) {
  if (wqe.done) return true;
  if (ah == nullptr || ah->pd != qp.pd) {
    wqe.fail(CompletionStatus::local_qp_operation_error);
  } else if (wqe.length > device.config.port_mtu) {
    // UD-01 (a datagram longer than the port MTU is not sent)
    wqe.fail(device.profile().oversize_datagram_status);
  }
  return wqe.done;
}

// NET-16 (a datagram has to be addressed to an entry of the GID table)
[[nodiscard]] bool is_to_us(const DeviceState& device, const NetMeta& net) {
  if (fault(Fault::group_any_qpn) && is_multicast(net.destination)) return true;
  for (const GidEntry& entry : device.config.gids) {
    if (entry.gid == net.destination && (entry.type == GidType::roce_v1) == (net.version == RoceVersion::v1)) {
      return true;
    }
  }
  return false;
}

/// Puts a datagram into a receive.
void take_datagram(DeviceState& device, Qp& qp, const Packet& packet) {
  Responder& resp = qp.resp;
  const Bth bth = packet.bth();
  const auto deth = *packet.get<Deth>();
  if (!qp.may_receive()) {
    ++qp.counters.wrong_state;
    return;
  }
  // UD-02 (the Q_Key has to be the QP's)
  if (deth.q_key != qp.attributes.q_key && !fault(Fault::ud_qkey_ignored)) {
    ++qp.counters.q_key_violations;
    return;
  }
  if (packet.payload_length() > device.config.port_mtu) {
    ++qp.counters.malformed;
    return;
  }
  if (fault(Fault::ud_none_blocks) && resp.open == Responder::Open::send) return;
  if (!take_receive(device, qp)) {
    if (fault(Fault::ud_none_blocks)) resp.open = Responder::Open::send;
    ++qp.counters.out_of_buffer;
    return;
  }
  const std::uint64_t length = kNetworkHeaderArea + packet.payload_length();
  if (resp.receive.length < length) {
    // UD-05 (a receive that is too short stays): the next datagram may use it.
    ++qp.counters.local_length_errors;
    if (fault(Fault::ud_short_kills)) return enter_error(device, qp, true);
    return;
  }
  // UD-04 (the buffer begins with 40 bytes for the network header)
  const std::array<std::byte, kNetworkHeaderArea> area = network_header_area(packet);
  const auto put = [&](std::uint64_t offset, Bytes bytes) {
    return device.memory.scatter(qp.receive_pd, resp.receive_memory(), offset, bytes) == Scattered::done;
  };
  Completion completion{};
  completion.wr_id = resp.receive.wr_id;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  const std::uint64_t data_offset = fault(Fault::ud_area_20) ? kIpv4HeaderArea : kNetworkHeaderArea;
  if (!put(0, area) || !put(data_offset, packet.payload())) {
    completion.status = CompletionStatus::local_protection_error;
    complete_receive(device, qp, completion, true);
    return;
  }
  completion.has_network_header = true;
  completion.byte_length = static_cast<std::uint32_t>(length);
  if (const std::optional<ImmDt> immediate = packet.get<ImmDt>()) {
    completion.has_immediate = true;
    completion.immediate = immediate->data;
  }
  completion.source_qp = deth.source_qp;
  completion.p_key_index = qp.attributes.p_key_index;
  completion.service_level = static_cast<std::uint8_t>(packet.vlan_tci().value_or(0) >> kVlanPriorityShift);
  ++qp.counters.sends_received;
  complete_receive(device, qp, completion, bth.solicited);
}

void deliver(DeviceState& device, Qp& qp, const Packet& packet, Time now) {
  if (!p_keys_match(packet.bth().p_key, qp.p_key)) {
    ++qp.counters.p_key_violations;
    return;
  }
  count_received(qp, packet);
  on_congestion_mark(device, qp, packet, now);
  take_datagram(device, qp, packet);
}

/// Delivers a datagram to all UD QPs: a fault.
void deliver_to_all(DeviceState& device, const Packet& packet, Time now) {
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp != nullptr && qp->init.type == QpType::ud) deliver(device, *qp, packet, now);
  }
}

}  // namespace

Path* datagram_path(const Qp& qp, AddressHandle& ah, Emitter& out) {
  if (ah.address.udp_source_port || ah.address.flow_label != 0) return &ah.path;
  const std::uint16_t port = unconnected_source_port(qp.qpn);
  if (ah.path.net.udp_source_port != port) {
    // The units that are already placed refer to the path as it is.
    if (out.uses(ah.path)) return nullptr;
    ah.path.built = false;
    ah.path.net.udp_source_port = port;
  }
  return &ah.path;
}

Served serve_datagrams(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  Requester& req = qp.req;
  if (qp.state != QpState::rts && qp.state != QpState::sqd) return Served::idle;
  Served served = Served::idle;
  while (req.next != req.tail) {
    SendWqe& wqe = req.wqe(req.next);
    if (req.next == req.fresh) {
      if (qp.state == QpState::sqd) break;
      wqe.first_psn = req.next_psn;
      req.next_psn = req.next_psn + wqe.psn_count;
      ++req.fresh;
    }
    if (quantum == 0) {
      served = Served::more;
      break;
    }
    AddressHandle* ah = device.ahs.find(req.extra_of(wqe).datagram.ah);
    if (!has_failed(device, qp, wqe, ah)) {
      Path* path = datagram_path(qp, *ah, out);
      if (path != nullptr && !build_path(device, qp, *path, out.link())) {
        if (qp.init.type != QpType::gsi || req.next + 1 == req.tail) break;
        // NET-24 (a MAD waits for a neighbour only while no other is behind it): else a host that answers no ARP would
        // keep all others from being answered. Who sends MADs sends them again.
        qp.waits_for_neighbour = false;
        wqe.done = true;
        req.sent_end = req.una = req.next_psn;
      } else if (path == nullptr || !send_datagram(device, qp, wqe, *path, out, now)) {
        served = Served::no_room;
        break;
      }
      --quantum;
    }
    ++req.next;
    retire(device, qp);
    if (qp.state != QpState::rts && qp.state != QpState::sqd) break;
  }
  retire(device, qp);
  return served;
}

void receive_datagram(DeviceState& device, Qp& qp, const Packet& packet, Time now) {
  if (!is_to_us(device, packet.net())) {
    ++qp.counters.wrong_address;
    return;
  }
  deliver(device, qp, packet, now);
}

// UD-06 (a multicast datagram reaches every QP attached to its group)
void receive_multicast(DeviceState& device, const Packet& packet, Time now) {
  const Gid destination = packet.net().destination;
  bool delivered = false;
  if (fault(Fault::qpn_ffffff_anywhere)) return deliver_to_all(device, packet, now);
  for (const auto& [group, slot] : device.groups) {
    if (group != destination) continue;
    delivered = true;
    deliver(device, *device.qps[slot], packet, now);
    if (fault(Fault::mc_twice)) deliver(device, *device.qps[slot], packet, now);
    if (fault(Fault::mc_first_only)) break;
  }
  if (!delivered) ++device.other.unknown_qp;
}

}  // namespace roce::transport::detail
