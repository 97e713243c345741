// SPDX-License-Identifier: BSD-2-Clause
// Hosts before time passes: devices, memory, and the queue pairs that the flows need.
#include <algorithm>
#include <map>
#include <tuple>

#include "fabric/must.h"
#include "fabric/state.h"

namespace roce::fabric::detail {

namespace {

using transport::Access;
using transport::QpState;

constexpr std::uint32_t kReceives = 16;  ///< posted at each host; a packet ends at most one message
constexpr std::uint32_t kSends = 4;
constexpr std::uint32_t kPsnMask = 0xFF'FFFF;

[[nodiscard]] Gid gid_of(NodeId host) {
  const std::uint32_t address = kFirstAddress + host;
  return Gid::from_ipv4(
      Ipv4Address{{static_cast<std::uint8_t>(address >> 24U), static_cast<std::uint8_t>(address >> 16U),
                   static_cast<std::uint8_t>(address >> 8U), static_cast<std::uint8_t>(address)}});
}

void make_host(State& state, NodeId id, std::uint32_t queue_pairs) {
  const HostConfig& config = state.config.hosts;
  Host& host = state.hosts[id];
  transport::DeviceConfig device;
  device.mac = mac_of(id);
  device.gids = {{.gid = gid_of(id)}};
  device.profile = config.profile;
  device.cnp = {.enabled = config.sends_cnps,
                .interval = config.cnp_interval,
                .dscp = static_cast<std::uint8_t>(config.cnp_priority << 3U),
                .priority = config.cnp_priority};
  device.traffic_classes = config.traffic_classes;
  device.line_rate_bps = state.ports[host.port].rate_bps;
  device.check_icrc = false;  // nothing here damages a packet
  device.limits = {.max_qp = std::max(queue_pairs, 1U),
                   .max_cq = 1,
                   .max_mr = 4,
                   .max_srq = 1,
                   .max_pd = 1,
                   .max_ah = 1,
                   .max_events = 16};
  // As on a card, numbers of queue pairs differ from host to host, and with them the ports that ECMP sees.
  device.first_qpn = 0x100 + static_cast<std::uint32_t>(state.random() % 0x8000U) * 0x100U;
  host.device = std::make_unique<transport::Device>(
      must(transport::Device::make(std::move(device), std::mt19937_64{state.random()}, [&state](Qpn /*qp*/) {
        return congestion::make_control(state.config.hosts.congestion);
      })));
  host.pd = must(host.device->create_pd());
  host.cq = must(host.device->create_cq(queue_pairs * kSends + 2 * kReceives));
  host.srq = must(host.device->create_srq(host.pd, kReceives, 1));
  for (std::uint32_t i = 0; i < kReceives; ++i) must(host.device->post_srq_receive(host.srq, {.wr_id = kNone}));
  const auto add = [&](std::vector<std::byte>& memory, Access access) {
    return must(host.device->query_mr(
        must(host.device->register_memory(host.pd, {.memory = memory, .access = access, .address = 0}))));
  };
  host.source = add(state.source, Access::local_write);
  host.sink = add(state.sink, Access::local_write | Access::remote_write);
}

void make_queue_pair(State& state, std::uint32_t index) {
  QueuePair& qp = state.queue_pairs[index];
  Host& host = state.hosts[qp.host];
  qp.expected = static_cast<std::uint32_t>(state.random()) & kPsnMask;
  qp.qpn = must(host.device->create_qp({.pd = host.pd,
                                        .send_cq = host.cq,
                                        .receive_cq = host.cq,
                                        .srq = host.srq,
                                        .max_send = kSends,
                                        .max_receive = 0,
                                        .max_send_sge = 1,
                                        .max_receive_sge = 1}));
}

/// Connects a queue pair with the other one of its connection.
void connect(State& state, std::uint32_t index, std::uint8_t priority, std::uint32_t mtu) {
  const QueuePair& qp = state.queue_pairs[index];
  const QueuePair& peer = state.queue_pairs[index ^ 1U];
  transport::Device& device = *state.hosts[qp.host].device;
  must(device.set_neighbour(gid_of(peer.host), std::nullopt, mac_of(peer.host)));
  must(device.modify_qp(qp.qpn, {.state = QpState::init, .p_key_index = 0, .port = 1, .access = Access::remote_write},
                        Time{}));
  must(device.modify_qp(qp.qpn,
                        {.state = QpState::rtr,
                         .address = transport::AddressVector{.dgid = gid_of(peer.host),
                                                             .traffic_class = static_cast<std::uint8_t>(priority << 5U),
                                                             .service_level = priority},
                         .path_mtu = mtu,
                         .dest_qp = peer.qpn,
                         .rq_psn = Psn{qp.expected},
                         .max_dest_rd_atomic = 1,
                         .min_rnr_timer = 1},
                        Time{}));
  must(device.modify_qp(qp.qpn,
                        {.state = QpState::rts,
                         .sq_psn = Psn{peer.expected},
                         .max_rd_atomic = 1,
                         .timeout = state.config.hosts.timeout,
                         .retry_count = 7,
                         .rnr_retry = 7},
                        Time{}));
}

/// A connection: lower host, higher host, priority, MTU, number.
using Connection = std::tuple<NodeId, NodeId, std::uint8_t, std::uint32_t, std::uint32_t>;

}  // namespace

std::uint32_t mtu_of(const State& state, std::uint32_t flow) {
  return state.flows[flow].mtu != 0 ? state.flows[flow].mtu : state.config.hosts.path_mtu;
}

MacAddress mac_of(NodeId host) {
  return MacAddress{{2, 0, 0, 0, static_cast<std::uint8_t>(host >> 8U), static_cast<std::uint8_t>(host)}};
}

void set_up_hosts(State& state) {
  state.hosts.resize(state.topology.hosts);
  for (PortId id = 0; id < state.ports.size(); ++id) {
    if (state.is_host(state.ports[id].node)) state.hosts[state.ports[id].node].port = id;
  }
  std::map<Connection, std::uint32_t> connections;
  std::vector<std::uint32_t> queue_pairs(state.topology.hosts);
  std::uint64_t longest = 1;
  for (std::uint32_t i = 0; i < state.flows.size(); ++i) {
    const Flow& flow = state.flows[i];
    const auto [low, high] = std::minmax(flow.from, flow.to);
    const Connection key{low, high, flow.priority, mtu_of(state, i), flow.connection};
    const auto [place, is_new] = connections.emplace(key, static_cast<std::uint32_t>(state.queue_pairs.size()));
    if (is_new) {
      for (const NodeId host : {low, high}) {
        state.queue_pairs.emplace_back().host = host;
        ++queue_pairs[host];
      }
    }
    state.transfers[i].queue_pair = place->second + (flow.from == low ? 0 : 1);
    longest = std::max(longest, std::min<std::uint64_t>(flow.bytes, kMessage));
  }
  state.source.resize(longest);
  state.sink.resize(longest);
  for (NodeId host = 0; host < state.topology.hosts; ++host) make_host(state, host, queue_pairs[host]);
  for (std::uint32_t i = 0; i < state.queue_pairs.size(); ++i) make_queue_pair(state, i);
  for (const auto& [key, index] : connections) {
    connect(state, index, std::get<2>(key), std::get<3>(key));
    connect(state, index + 1, std::get<2>(key), std::get<3>(key));
  }
}

}  // namespace roce::fabric::detail
