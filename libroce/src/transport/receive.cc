// SPDX-License-Identifier: BSD-2-Clause
// A packet's way in: the checks that drop it without an answer, then its QP (IBTA vol. 1, 9.6).
#include "roce/transport/shard.h"
#include "roce/wire/icrc.h"
#include "transport/device_state.h"

namespace roce::transport {

namespace detail {
namespace {

constexpr std::uint16_t kVlanMask = 0x0FFF;

/// Both name the same partition, and at least one side is a full member (IBTA vol. 1, 10.9.3; QP-04).
[[nodiscard]] bool p_keys_match(PKey a, PKey b) {
  return a.partition() != 0 && a.partition() == b.partition() && (a.is_full_member() || b.is_full_member());
}

// NET-14
[[nodiscard]] bool is_whole(const Packet& packet) {
  return packet.is_roce() && packet.has_icrc() && packet.info().defined();
}

[[nodiscard]] bool service_fits(const Qp& qp, Service service) {
  switch (qp.init.type) {
    case QpType::rc:
      return service == Service::rc;
    case QpType::uc:
      return service == Service::uc;
    case QpType::ud:
    case QpType::gsi:
      return service == Service::ud;
  }
  return false;
}

/// Whether a packet of a connection comes from and goes to its addresses, in its VLAN (NET-15).
[[nodiscard]] bool is_of_connection(const Qp& qp, const Packet& packet) {
  const NetMeta& ours = qp.path.net;
  if (!packet.is_between(ours.version, ours.destination, ours.source)) return false;
  // A link without Ethernet headers does not tell the VLAN.
  if (packet.network_header() == HeaderId::none) return true;
  // A tag with VLAN 0 is one of priority only.
  return (packet.vlan_tci().value_or(0) & kVlanMask) == qp.path.vlan_id.value_or(0);
}

// NET-16
[[nodiscard]] bool is_to_us(const DeviceState& device, const NetMeta& net) {
  for (const GidEntry& entry : device.config.gids) {
    if (entry.gid == net.destination && (entry.type == GidType::roce_v1) == (net.version == RoceVersion::v1)) {
      return true;
    }
  }
  return false;
}

void count_received(Qp& qp, const Packet& packet) {
  ++qp.counters.received_packets;
  qp.counters.received_bytes += packet.icrc_offset() + 4 - packet.bth_offset();
}

void deliver_datagram(DeviceState& device, Qp& qp, const Packet& packet, const NetMeta& net, Time now) {
  if (!p_keys_match(packet.bth().p_key, qp.p_key)) {
    ++qp.counters.p_key_violations;
    return;
  }
  count_received(qp, packet);
  on_congestion_mark(device, qp, packet, now);
  on_datagram(device, qp, packet, net, now);
}

// UD-06
void deliver_multicast(DeviceState& device, const Packet& packet, const NetMeta& net, Time now) {
  bool delivered = false;
  for (const auto& [group, slot] : device.groups) {
    if (group != net.destination) continue;
    delivered = true;
    deliver_datagram(device, *device.qps[slot], packet, net, now);
  }
  if (!delivered) ++device.other.unknown_qp;
}

void deliver(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now) {
  const OpcodeInfo& info = packet.info();
  if (info.service == Service::cnp) {
    count_received(qp, packet);
    return on_cnp(qp, packet, now);
  }
  // QP-05
  if (!service_fits(qp, info.service) || qp.state == QpState::reset || qp.state == QpState::init ||
      qp.state == QpState::err) {
    ++qp.counters.wrong_state;
    return;
  }
  if (qp.is_datagram()) {
    const NetMeta net = packet.net();
    if (!is_to_us(device, net)) {
      ++qp.counters.wrong_address;
      return;
    }
    return deliver_datagram(device, qp, packet, net, now);
  }
  if (!is_of_connection(qp, packet)) {
    ++qp.counters.wrong_address;
    return;
  }
  if (!p_keys_match(bth.p_key, qp.p_key)) {
    ++qp.counters.p_key_violations;
    return;
  }
  count_received(qp, packet);
  on_congestion_mark(device, qp, packet, now);
  if (qp.init.type == QpType::uc) {
    on_unreliable(device, qp, packet, bth, now);
  } else if (info.is_response()) {
    on_response(device, qp, packet, bth, now);
  } else {
    on_request(device, qp, packet, bth, now);
  }
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

void Device::receive(const Packet& packet, Time now) {
  DeviceState& device = *state_;
  if (!is_whole(packet)) {
    ++device.other.malformed;
    return;
  }
  const Bth bth = packet.bth();
  if (bth.version != 0 || bth.dest_qp.value() == 0) {
    ++device.other.malformed;
    return;
  }
  const bool multicast = bth.dest_qp == kMulticastQpn && packet.info().service == Service::ud;
  Qp* qp = multicast ? nullptr : device.find_qp(bth.dest_qp);
  if (!multicast && qp == nullptr) {
    ++device.other.unknown_qp;
    return;
  }
  // NET-14
  if (device.config.check_icrc) {
    const IcrcStatus status = check_icrc(packet).status;
    // The identification that a link hides may be any that makes the ICRC come out.
    if (status != IcrcStatus::good && status != IcrcStatus::good_for_ip_id) {
      ++(qp != nullptr ? qp->counters : device.other).icrc_errors;
      return;
    }
  }
  if (multicast) {
    deliver_multicast(device, packet, packet.net(), now);
  } else {
    deliver(device, *qp, packet, bth, now);
  }
  settle_overflows(device);
}

}  // namespace roce::transport
