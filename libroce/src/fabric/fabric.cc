// SPDX-License-Identifier: BSD-2-Clause
// The fabric as a whole: construction, the loop over events, and what it says about itself.
#include "roce/fabric/fabric.h"

#include <algorithm>

#include "fabric/must.h"
#include "fabric/state.h"

namespace roce::fabric {

namespace detail {
namespace {

[[nodiscard]] std::uint32_t largest_of(const Config& config, const std::vector<Flow>& flows) {
  std::uint32_t mtu = config.hosts.path_mtu;
  for (const Flow& flow : flows) mtu = std::max(mtu, flow.mtu);
  return largest_frame(mtu);
}

void handle(State& state, const Event& event) {
  switch (event.kind) {
    case EventKind::arrival: {
      const Port& from = state.ports[event.target];
      if (from.tap != nullptr && (event.target & 1U) == 1) {
        from.tap->on_frame(event.target, state.frames.bytes(event.value), time_of(state.now));
      }
      if (state.is_host(from.other)) return receive_at_host(state, from.other, event.value);
      return receive_at_switch(state, event.target, event.value);
    }
    case EventKind::port_free: {
      Port& port = state.ports[event.target];
      port.is_expected = false;
      if (state.is_host(port.node)) return serve_host(state, port.node);
      return serve_port(state, event.target);
    }
    case EventKind::host_timer:
      return on_host_timer(state, event.target);
    case EventKind::pause_end:
      return take_pauses(state, event.target);
    case EventKind::pfc_renewal:
      return send_pauses(state, event.target);
    case EventKind::watchdog:
      return on_watchdog(state, event.target, event.value);
    case EventKind::watchdog_restore:
      return on_watchdog_restore(state, event.target, event.value);
    case EventKind::flow_start:
      return begin_flow(state, event.target);
    case EventKind::storm:
      return send_pauses(state, state.hosts[event.target].port);
  }
}

}  // namespace

State::State(Topology its_topology, const Config& its_config, std::vector<Flow> its_flows)
    : topology(std::move(its_topology)),
      config(its_config),
      flows(std::move(its_flows)),
      largest(largest_of(config, flows)),
      frames(largest),
      random(config.seed),
      routes(topology) {
  for (const Topology::Link& link : topology.links) {
    for (const auto& [node, other] : {std::pair{link.a, link.b}, {link.b, link.a}}) {
      Port& port = ports.emplace_back();
      port.rate_bps = link.spec.rate_bps;
      port.node = node;
      port.other = other;
      port.delay = picoseconds_of(link.spec.delay);
      port.loss = link.spec.loss;
    }
  }
  switch_ports.resize(ports.size());
  transfers.resize(flows.size());
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    if (flows[i].bytes != kEndless) ++unfinished;
    if (!flows[i].after) {
      events.add(picoseconds_of(flows[i].start), EventKind::flow_start, i);
      continue;
    }
    Transfer& before = transfers[*flows[i].after];
    transfers[i].next_follower = before.first_follower;
    before.first_follower = i;
  }
  for (const Storm& storm : config.storms) {
    events.add(picoseconds_of(storm.start), EventKind::storm, storm.host);
    if (storm.duration) events.add(picoseconds_of(storm.start + *storm.duration), EventKind::storm, storm.host);
  }
  set_up_switches(*this);
  set_up_hosts(*this);
}

}  // namespace detail

using namespace detail;

Fabric::Fabric(std::unique_ptr<State> state) : state_(std::move(state)) {}
Fabric::Fabric(Fabric&&) noexcept = default;
Fabric& Fabric::operator=(Fabric&&) noexcept = default;
Fabric::~Fabric() = default;

Result<Fabric> Fabric::make(Topology topology, const Config& config, std::vector<Flow> flows) {
  if (Result<void> checked = check(topology); !checked) return tl::unexpected(checked.error());
  if (Result<void> checked = check(flows, topology); !checked) return tl::unexpected(checked.error());
  std::uint32_t mtu = config.hosts.path_mtu;
  for (const Flow& flow : flows) mtu = std::max(mtu, flow.mtu);
  if (Result<void> checked = check(config, topology, mtu); !checked) return tl::unexpected(checked.error());
  return Fabric{std::make_unique<State>(std::move(topology), config, std::move(flows))};
}

void Fabric::run_until(Time until) {
  State& state = *state_;
  const Picoseconds end = picoseconds_of(until);
  const bool has_end = !is_done();
  while (!state.events.empty() && state.events.first().at <= end) {
    const Event event = state.events.take();
    state.now = event.at;
    ++state.totals.events;
    handle(state, event);
    if (has_end && state.unfinished == 0) return;
  }
  state.now = std::max(state.now, end);
}

Time Fabric::now() const {
  return time_of(state_->now);
}

bool Fabric::is_done() const {
  return state_->unfinished == 0;
}

const Topology& Fabric::topology() const {
  return state_->topology;
}

std::span<const Flow> Fabric::flows() const {
  return state_->flows;
}

FlowState Fabric::flow_state(std::uint32_t flow) const {
  FlowState result = state_->transfers[flow].state;
  result.delivered = delivered_of(*state_, flow);
  return result;
}

Duration Fabric::ideal_time(std::uint32_t id) const {
  const Flow& flow = state_->flows[id];
  const std::uint64_t mtu = mtu_of(*state_, id);
  // Ethernet, IPv4, UDP, BTH, ICRC; a message begins with a RETH and ends with an immediate.
  constexpr std::uint64_t headers = 14 + 20 + 8 + 12 + 4;
  constexpr std::uint64_t of_message = 16 + 4;
  constexpr std::uint64_t on_wire = 24;
  const std::uint64_t bytes = flow.bytes == kEndless ? 0 : flow.bytes;
  const std::uint64_t packets = (bytes + mtu - 1) / mtu;
  const std::uint64_t messages = (bytes + kMessage - 1) / kMessage;
  const std::uint64_t all = bytes + packets * (headers + on_wire) + messages * of_message;
  const auto largest = static_cast<std::uint32_t>(std::min(bytes, mtu) + headers + of_message);
  Picoseconds time = 0;
  std::uint64_t slowest = ~std::uint64_t{0};
  for (const PortId id_of_port : state_->routes.way(flow.from, flow.to)) {
    const Port& port = state_->ports[id_of_port];
    time += port.transmission(largest) + port.delay;
    slowest = std::min(slowest, port.rate_bps);
  }
  const std::uint64_t rest = all > largest + on_wire ? all - largest - on_wire : 0;
  time += static_cast<Picoseconds>(static_cast<double>(rest) * 8e12 / static_cast<double>(slowest));
  return Duration{time / 1000};
}

std::optional<congestion::Reading> Fabric::reading(std::uint32_t flow) const {
  const QueuePair& qp = state_->queue_pairs[state_->transfers[flow].queue_pair];
  return must(state_->hosts[qp.host].device->congestion_reading(qp.qpn, now()));
}

transport::Counters Fabric::host_counters(NodeId host) const {
  return state_->hosts[host].device->counters();
}

transport::Counters Fabric::flow_counters(std::uint32_t flow) const {
  const QueuePair& qp = state_->queue_pairs[state_->transfers[flow].queue_pair];
  return must(state_->hosts[qp.host].device->counters(qp.qpn));
}

std::uint32_t Fabric::ports() const {
  return static_cast<std::uint32_t>(state_->ports.size());
}

NodeId Fabric::node_of(PortId port) const {
  return state_->ports[port].node;
}

std::string Fabric::name_of(PortId port) const {
  const std::vector<std::string>& names = state_->topology.names;
  return names[state_->ports[port].node] + ">" + names[state_->ports[port].other];
}

const PortCounters& Fabric::counters(PortId port) const {
  return state_->ports[port].counters;
}

std::uint64_t Fabric::queue_bytes(PortId port, std::uint8_t priority) const {
  const SwitchPort& own = state_->switch_ports[port];
  const bool leaves = state_->ports[port].free_at > state_->now && own.leaving_priority == priority;
  return own.egress.bytes(priority) + (leaves ? own.leaving : 0);
}

Duration Fabric::paused_time(PortId port, std::uint8_t priority) const {
  const Port& own = state_->ports[port];
  const bool is_paused = (own.paused & bit_of(priority)) != 0;
  return Duration{(own.paused_for[priority] + (is_paused ? state_->now - own.paused_since[priority] : 0)) / 1000};
}

Totals Fabric::totals() const {
  return state_->totals;
}

std::span<const WatchdogEvent> Fabric::watchdog_events() const {
  return state_->watchdog_events;
}

std::size_t Fabric::frame_memory() const {
  return state_->frames.memory();
}

void Fabric::set_tap(std::uint32_t link, Tap* tap) {
  for (const std::uint32_t end : {0U, 1U}) state_->ports[2 * link + end].tap = tap;
}

}  // namespace roce::fabric
