// SPDX-License-Identifier: BSD-2-Clause
// Switches: the way of a frame from one port to another through the shared buffer.
#include <algorithm>
#include <bit>

#include "fabric/state.h"
#include "roce/wire/checksum.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/packet.h"

namespace roce::fabric::detail {

namespace {

/// Returns a hash of which all bits depend on all bits of `value` (the finalizer of MurmurHash3).
[[nodiscard]] std::uint32_t mix(std::uint32_t value) {
  value = (value ^ value >> 16U) * 0x85EB'CA6BU;
  value = (value ^ value >> 13U) * 0xC2B2'AE35U;
  return value ^ value >> 16U;
}

/// Sets congestion experienced (RFC 3168) in a frame that a host made: IPv4 without options behind Ethernet.
void mark(std::span<std::byte> frame) {
  constexpr std::uint8_t congestion_experienced = 3;
  const std::span<std::byte> ip = frame.subspan(kSize<Ethernet>, kSize<Ipv4>);
  FieldOf<&Ipv4::ecn>::set(ip.data(), congestion_experienced);
  FieldOf<&Ipv4::checksum>::set(ip.data(), ipv4_checksum(ip));
}

[[nodiscard]] bool is_to_mark(State& state, std::uint64_t behind) {
  const Red& red = *state.config.switches.red;
  if (behind <= red.kmin) return false;
  if (behind > red.kmax) return true;
  return state.happens(red.pmax * static_cast<double>(behind - red.kmin) / static_cast<double>(red.kmax - red.kmin));
}

/// Stops the sender of what came in at a port, or lets it go on, as the thresholds say.
void judge(State& state, PortId came_by, std::uint32_t priority) {
  Ingress& ingress = state.switch_ports[came_by].ingress;
  Port& port = state.ports[came_by];
  if (!state.switch_of(port.node).buffer.judge(ingress, priority)) return;
  if ((ingress.stopped & bit_of(priority)) != 0) {
    ++port.counters.xoffs;
    ++state.totals.xoffs;
  }
  send_pauses(state, came_by);
}

void drop(State& state, PortId came_by, std::uint32_t frame) {
  ++state.ports[came_by].counters.dropped;
  ++state.totals.dropped;
  state.frames.give_back(frame);
}

MacAddress mac_of_switch_port(PortId port) {
  return MacAddress{{2, 1, 0, static_cast<std::uint8_t>(port >> 16U), static_cast<std::uint8_t>(port >> 8U),
                     static_cast<std::uint8_t>(port)}};
}

}  // namespace

void set_up_switches(State& state) {
  const SwitchConfig& config = state.config.switches;
  state.quanta = quanta_of(config.weights, largest_frame(4096));
  std::vector<std::uint64_t> kept(state.topology.switches);
  const auto lossless = static_cast<std::uint64_t>(config.pfc ? std::popcount(config.pfc->priorities) : 0);
  for (PortId id = 0; id < state.ports.size(); ++id) {
    const Port& port = state.ports[id];
    if (state.is_host(port.node)) continue;
    SwitchPort& own = state.switch_ports[id];
    if (lossless == 0) continue;
    const LinkSpec& link = state.topology.links[id / 2].spec;
    own.ingress.most_headroom = config.pfc->headroom.value_or(needed_headroom(link, state.largest));
    kept[port.node - state.topology.hosts] += lossless * (own.ingress.most_headroom + config.pfc->reserve);
  }
  for (const std::uint64_t bytes : kept) {
    state.switches.push_back({SharedBuffer{config, config.buffer - std::min(bytes, config.buffer)},
                              static_cast<std::uint32_t>(state.random())});
  }
}

void receive_at_switch(State& state, PortId from, std::uint32_t frame_id) {
  const PortId came_by = from ^ 1U;
  Frame& frame = state.frames[frame_id];
  if (frame.is_pfc) {
    Port& port = state.ports[came_by];
    port.pauses.receive(parse_frame(state.frames.bytes(frame_id), LinkType::ethernet), port.rate_bps, state.now);
    state.frames.give_back(frame_id);
    take_pauses(state, came_by);
    return;
  }
  const NodeId node = state.ports[came_by].node;
  Switch& here = state.switch_of(node);
  const PortId to = state.routes.choose(node, frame.to, mix(frame.hash ^ here.salt));
  Port& out = state.ports[to];
  if ((out.ignored & bit_of(frame.priority)) != 0) {
    ++out.counters.watchdog_drops;
    ++state.totals.watchdog_drops;
    state.frames.give_back(frame_id);
    return;
  }
  Ingress& ingress = state.switch_ports[came_by].ingress;
  if (!here.buffer.admit(ingress, frame.priority, frame.size)) return drop(state, came_by, frame_id);
  frame.came_by = came_by;
  Egress& egress = state.switch_ports[to].egress;
  egress.push(state.frames, frame_id);
  out.counters.longest_queue = std::max(out.counters.longest_queue, egress.bytes(frame.priority));
  judge(state, came_by, frame.priority);
  watch(state, to);
  serve_port(state, to);
}

void leave_buffer(State& state, const Frame& frame) {
  SharedBuffer& buffer = state.switch_of(state.ports[frame.came_by].node).buffer;
  buffer.release(state.switch_ports[frame.came_by].ingress, frame.priority, frame.size);
  judge(state, frame.came_by, frame.priority);
}

void serve_port(State& state, PortId id) {
  Port& port = state.ports[id];
  SwitchPort& own = state.switch_ports[id];
  const auto may_send = static_cast<std::uint8_t>(~port.paused);
  if (port.free_at <= state.now) {
    if (port.pfc != kNone) {
      const std::uint32_t frame = port.pfc;
      port.pfc = kNone;
      own.leaving = 0;
      begin_to_send(state, id, frame, state.now);
    } else if (const std::uint32_t priority = own.egress.choose(state.frames, may_send, state.quanta);
               priority != kNone) {
      const std::uint32_t frame_id = own.egress.pop(state.frames, priority, state.quanta);
      const Frame& frame = state.frames[frame_id];
      if (frame.is_ect && state.config.switches.red && is_to_mark(state, own.egress.bytes(priority))) {
        mark(state.frames.room(frame_id));
        ++port.counters.marked;
        ++state.totals.marked;
      }
      own.leaving = frame.size;
      own.leaving_priority = frame.priority;
      begin_to_send(state, id, frame_id, state.now);
      leave_buffer(state, frame);
    }
  }
  if (port.free_at > state.now && (port.pfc != kNone || (own.egress.filled() & may_send) != 0)) expect_free(state, id);
}

void send_pauses(State& state, PortId id) {
  SwitchPort& own = state.switch_ports[id];
  Port& port = state.ports[id];
  const bool is_host = state.is_host(port.node);
  const std::uint8_t held = is_host ? stormed(state, port.node) : own.ingress.stopped;
  if (is_host) {
    // Those of a switch are counted where it decides.
    const auto stopped = static_cast<unsigned>(std::popcount(static_cast<unsigned>(held & ~own.requests.held())));
    port.counters.xoffs += stopped;
    state.totals.xoffs += stopped;
  }
  if (!own.requests.update(held, port.rate_bps, state.now)) return;
  // A frame that still waits is out of date: each has the state of all priorities.
  const std::uint32_t frame_id = port.pfc != kNone ? port.pfc : state.frames.take();
  const MacAddress address = is_host ? mac_of(port.node) : mac_of_switch_port(id);
  own.requests.write(state.frames.room(frame_id).first<PauseRequests::kFrame>(), address);
  state.frames[frame_id] = {.size = PauseRequests::kFrame, .is_pfc = true};
  port.pfc = frame_id;
  if (own.requests.renewal() >= 0) state.events.add(own.requests.renewal(), EventKind::pfc_renewal, id);
  if (is_host) return serve_host(state, port.node);
  serve_port(state, id);
}

}  // namespace roce::fabric::detail
