// SPDX-License-Identifier: BSD-2-Clause
// Congestion notification: a packet marked CE is answered with a CNP, and a CNP slows its QP down (IBTA annex A17).
#include "transport/congestion.h"

#include "roce/wire/cnp.h"
#include "roce/wire/constants.h"
#include "roce/wire/deth.h"
#include "roce/wire/ethernet.h"
#include "transport/device_state.h"
#include "transport/emitter.h"
#include "transport/faults.h"

namespace roce::transport::detail {

void on_congestion_mark(DeviceState& device, Qp& qp, const Packet& packet, Time now) {
  if (fault(Fault::cnp_never)) return;
  if ((packet.traffic_class() & kEcnMask) != kEcnCe && !fault(Fault::cnp_for_ect)) return;
  ++qp.counters.ce_received;
  const CnpConfig& config = device.config.cnp;
  if (!config.enabled || !device.profile().send_cnps || packet.version() == RoceVersion::v1) return;
  // CC-01 (at most one CNP per QP in an interval)
  if (qp.cnp_sent_before && now - qp.last_cnp < config.interval && !fault(Fault::cnp_each)) return;
  if (device.cnps.full()) return;
  PendingCnp cnp;
  cnp.qpn = qp.qpn;
  if (qp.is_datagram()) {
    // The CNP goes back to the sender of the datagram, which need not be where this QP sends to.
    const std::optional<Deth> deth = packet.get<Deth>();
    const NetMeta net = packet.net();
    if (!deth || is_multicast(net.destination)) return;
    // CC-03 (a CNP goes to the source QP of the datagram)
    cnp.dest_qp = deth->source_qp;
    cnp.path.net = net;
    cnp.path.net.source = net.destination;
    cnp.path.net.destination = net.source;
    cnp.path.net.udp_source_port = unconnected_source_port(qp.qpn);
    if (const std::optional<Ethernet> ethernet = packet.get<Ethernet>()) cnp.path.destination_mac = ethernet->source;
  } else {
    if (qp.state == QpState::reset || qp.state == QpState::init) return;
    // CC-03 (a CNP goes to the peer QP of the connection)
    cnp.dest_qp = qp.dest_qp;
    cnp.path = qp.path;
    if (fault(Fault::cnp_wrong_qp)) cnp.dest_qp = qp.qpn;
  }
  NetMeta& back = cnp.path.net;
  back.traffic_class = static_cast<std::uint8_t>(config.dscp << 2 | kEcnEct0);
  back.hop_limit = device.config.hop_limit;
  if (back.vlan_tci) {
    back.vlan_tci = static_cast<std::uint16_t>((*back.vlan_tci & kVlanIdMask) | config.priority << kVlanPriorityShift);
  }
  cnp.path.built = false;
  qp.cnp_sent_before = true;
  qp.last_cnp = now;
  device.cnps.push() = cnp;
}

// CC-04 (only a CNP from the peer of a QP in RTS or SQD reaches its congestion control)
void on_cnp(Qp& qp, const Packet& packet, Time now) {
  if (fault(Fault::cnp_moves_psn)) qp.resp.e_psn = qp.resp.e_psn + 1;
  const NetMeta& ours = qp.path.net;
  const bool is_strange = !qp.is_datagram() && !packet.is_between(ours.version, ours.destination, ours.source);
  if (is_strange && !fault(Fault::cnp_stranger_slows)) {
    ++qp.counters.cnps_ignored;
    return;
  }
  if (qp.state != QpState::rts && qp.state != QpState::sqd) {
    ++qp.counters.cnps_ignored;
    return;
  }
  ++qp.counters.cnps_handled;
  if (qp.pacer != nullptr) qp.pacer->on_cnp(now);
}

bool serve_cnps(DeviceState& device, Emitter& out) {
  const std::uint8_t priority = device.config.cnp.priority;
  if ((device.paused >> priority & 1) != 0) return true;
  while (!device.cnps.empty()) {
    PendingCnp& cnp = device.cnps.front();
    if (!build_path(device, cnp.path, out.link())) {
      // The peer's MAC address is not known, so this CNP is dropped; a later marked packet makes another.
      device.cnps.pop();
      continue;
    }
    constexpr std::uint32_t size = packet_size(kSize<CnpReserved>, 0);
    std::byte* bytes = out.place(cnp.path, priority, cnp.qpn.value(), size, true);
    if (bytes == nullptr) return false;
    Bth bth;
    // CC-02 (a CNP: opcode 0x81, BECN, PSN 0, 16 zero bytes)
    bth.opcode = Opcode::cnp;
    bth.becn = true;
    bth.dest_qp = cnp.dest_qp;
    write(bth, bytes);
    write(CnpReserved{}, bytes + kSize<Bth>);
    out.seal();
    // The headers of the unit come from `cnp.path`, which is about to be removed.
    out.close();
    Qp* qp = device.find_qp(cnp.qpn);
    Counters& counters = qp != nullptr ? qp->counters : device.other;
    ++counters.cnps_sent;
    ++counters.sent_packets;
    counters.sent_bytes += size;
    device.cnps.pop();
  }
  return true;
}

}  // namespace roce::transport::detail
