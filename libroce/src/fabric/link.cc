// SPDX-License-Identifier: BSD-2-Clause
// Links: frames on their way, and the pauses that the other end asks for.
#include "fabric/state.h"

namespace roce::fabric::detail {

void begin_to_send(State& state, PortId id, std::uint32_t frame_id, Picoseconds at) {
  Port& port = state.ports[id];
  const Frame& frame = state.frames[frame_id];
  port.free_at = at + port.transmission(frame.size);
  ++state.totals.hops;
  // The tap is at end a: it sees these frames now, and the others when they have come.
  if (port.tap != nullptr && (id & 1U) == 0) port.tap->on_frame(id, state.frames.bytes(frame_id), time_of(state.now));
  if (!frame.is_pfc) {
    ++port.counters.frames;
    port.counters.bytes += frame.size;
    if (port.loss > 0 && state.happens(port.loss)) {
      ++port.counters.lost;
      ++state.totals.lost;
      state.frames.give_back(frame_id);
      return;
    }
  }
  state.events.add(port.free_at + port.delay, EventKind::arrival, id, frame_id);
}

void expect_free(State& state, PortId id) {
  Port& port = state.ports[id];
  if (port.is_expected) return;
  port.is_expected = true;
  state.events.add(port.free_at, EventKind::port_free, id);
}

void take_pauses(State& state, PortId id) {
  Port& port = state.ports[id];
  const std::uint8_t before = port.paused;
  port.paused = port.pauses.at(state.now);
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    const bool was = (before & bit_of(priority)) != 0;
    const bool is = (port.paused & bit_of(priority)) != 0;
    if (is && !was) port.paused_since[priority] = state.now;
    if (was && !is) port.paused_for[priority] += state.now - port.paused_since[priority];
  }
  if (const Picoseconds end = port.pauses.next_end(state.now); end >= 0)
    state.events.add(end, EventKind::pause_end, id);
  if (state.is_host(port.node)) {
    pause_host(state, port.node);
  } else {
    watch(state, id);
    serve_port(state, id);
  }
}

}  // namespace roce::fabric::detail
