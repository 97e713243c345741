// SPDX-License-Identifier: BSD-2-Clause
// UD and GSI: single packets with a Q_Key, received behind a 40-byte header area (IBTA vol. 1, 9.8.3; annex A17).
#include <array>
#include <cstring>

#include "roce/transport/network_header.h"
#include "roce/transport/shard.h"
#include "roce/wire/deth.h"
#include "roce/wire/grh.h"
#include "roce/wire/immdt.h"
#include "roce/wire/ipv4.h"
#include "transport/device_state.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kIcrcSize = 4;
constexpr std::uint32_t kControlledQKey = 1U << 31;

/// Returns the first 40 bytes of a datagram's buffer: the GRH or IPv6 header, or 20 zeros and the IPv4 header
/// (UD-04). If the link hides the network header, it is rebuilt from `net`.
[[nodiscard]] std::array<std::byte, kNetworkHeaderArea> header_area(const Packet& packet, const NetMeta& net) {
  std::array<std::byte, kNetworkHeaderArea> area{};
  std::byte* ipv4 = area.data() + kNetworkHeaderArea - kSize<Ipv4>;
  switch (packet.network_header()) {
    case HeaderId::ipv4:
      std::memcpy(ipv4, packet.bytes().data() + packet.network_offset(), kSize<Ipv4>);
      return area;
    case HeaderId::ipv6:
    case HeaderId::grh:
      std::memcpy(area.data(), packet.bytes().data() + packet.network_offset(), kNetworkHeaderArea);
      return area;
    default:
      break;
  }
  const std::size_t transport_bytes = packet.icrc_offset() + kIcrcSize - packet.bth_offset();
  std::array<std::byte, 128> frame{};
  const FrameTemplate headers = FrameTemplate::ethernet(net, MacAddress{}, MacAddress{});
  headers.write_headers(frame.data(), transport_bytes, net.ip_id.value_or(0));
  const bool is_v4 = net.version == RoceVersion::v2_ipv4;
  const std::size_t network = headers.header_bytes() - (net.version == RoceVersion::v1 ? 0 : kSize<Udp>)-(
                                                           is_v4 ? kSize<Ipv4> : kNetworkHeaderArea);
  std::memcpy(is_v4 ? ipv4 : area.data(), frame.data() + network, is_v4 ? kSize<Ipv4> : kNetworkHeaderArea);
  return area;
}

/// Sends one datagram along a path that is built, or fails it if an L_Key is wrong; false if there is no room.
[[nodiscard]] bool send_datagram(DeviceState& device, Qp& qp, SendWqe& wqe, Path& path, Emitter& out, Time now) {
  Requester& req = qp.req;
  const bool immediate = wqe.opcode == WorkOpcode::send_with_immediate;
  const DatagramAddress& to = req.extra_of(wqe).datagram;
  const std::uint32_t pad = (0 - wqe.length) & 3;
  const std::size_t headers = kSize<Bth> + kSize<Deth> + (immediate ? kSize<ImmDt> : 0);
  std::byte* bytes = place(qp, path, out, static_cast<std::uint32_t>(headers) + wqe.length + pad + kIcrcSize);
  if (bytes == nullptr) return false;
  Bth bth;
  bth.opcode = immediate ? Opcode::ud_send_only_imm : Opcode::ud_send_only;
  bth.solicited = wqe.solicited;
  bth.mig_req = device.profile().mig_req;
  bth.pad_count = static_cast<std::uint8_t>(pad);
  bth.p_key = qp.p_key;
  bth.dest_qp = path.multicast ? kMulticastQpn : to.qpn;
  bth.ack_req = qp.init.type == QpType::gsi && device.profile().gsi_asks_for_ack;
  bth.psn = wqe.first_psn;
  write(bth, bytes);
  // UD-03 (bit 31 of the request's Q_Key means the sending QP's own)
  const bool own_key = (to.q_key.value() & kControlledQKey) != 0;
  write(Deth{own_key ? qp.attributes.q_key : to.q_key, 0, qp.qpn}, bytes + kSize<Bth>);
  if (immediate) write(ImmDt{wqe.immediate}, bytes + kSize<Bth> + kSize<Deth>);
  if (!gather(device, qp, wqe, 0, wqe.length, bytes + headers)) {
    out.take_back();
    wqe.done = true;
    wqe.status = CompletionStatus::local_protection_error;
    return true;
  }
  std::memset(bytes + headers + wqe.length, 0, pad);
  send_placed(device, qp, out, now);
  req.sent_end = req.una = req.next_psn;
  wqe.done = true;
  return true;
}

void deliver(DeviceState& device, Qp& qp, const Packet& packet, const NetMeta& net) {
  Responder& resp = qp.resp;
  const Bth bth = packet.bth();
  const auto deth = *packet.get<Deth>();
  if (qp.state != QpState::rtr && qp.state != QpState::rts && qp.state != QpState::sqd && qp.state != QpState::sqe) {
    ++qp.counters.wrong_state;
    return;
  }
  // UD-02 (the Q_Key has to be the QP's)
  if (deth.q_key != qp.attributes.q_key) {
    ++qp.counters.q_key_violations;
    return;
  }
  if (packet.payload_length() > device.config.port_mtu) {
    ++qp.counters.malformed;
    return;
  }
  if (!take_receive(device, qp)) {
    ++qp.counters.out_of_buffer;
    return;
  }
  const std::span<const Sge> sges{resp.receive_sges.data(), resp.receive.sge_count};
  const std::uint64_t length = kNetworkHeaderArea + packet.payload_length();
  if (resp.receive.length < length) {
    // UD-05 (a receive that is too short stays): the next datagram may use it.
    ++qp.counters.local_length_errors;
    return;
  }
  const std::array<std::byte, kNetworkHeaderArea> area = header_area(packet, net);
  Completion completion{};
  completion.wr_id = resp.receive.wr_id;
  completion.opcode = CompletionOpcode::receive;
  completion.qpn = qp.qpn;
  if (scatter(device, qp.receive_pd, sges, 0, area) != Scattered::done ||
      scatter(device, qp.receive_pd, sges, kNetworkHeaderArea, packet.payload()) != Scattered::done) {
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
  completion.service_level = net.vlan_tci ? static_cast<std::uint8_t>(*net.vlan_tci >> 13) : std::uint8_t{0};
  ++qp.counters.sends_received;
  complete_receive(device, qp, completion, bth.solicited);
}

}  // namespace

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
    if (ah == nullptr || ah->pd != qp.pd) {
      wqe.done = true;
      wqe.status = CompletionStatus::local_qp_operation_error;
    } else if (wqe.length > device.config.port_mtu) {
      // UD-01 (a datagram longer than the port MTU is not sent)
      wqe.done = true;
      wqe.status = device.profile().oversize_datagram_status;
    } else {
      if (!ah->address.udp_source_port && ah->address.flow_label == 0) {
        const std::uint16_t port = unconnected_source_port(qp.qpn);
        if (ah->path.net.udp_source_port != port) {
          out.close();
          ah->path.built = false;
          ah->path.net.udp_source_port = port;
        }
      }
      if (!build_path(device, qp, ah->path, out.link())) break;
      if (!send_datagram(device, qp, wqe, ah->path, out, now)) {
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

void on_datagram(DeviceState& device, Qp& qp, const Packet& packet, const NetMeta& net, Time) {
  deliver(device, qp, packet, net);
}

}  // namespace roce::transport::detail
