// SPDX-License-Identifier: BSD-2-Clause
// The watchdog of pauses, and the search for a deadlock.
#include <algorithm>
#include <map>
#include <set>

#include "fabric/state.h"

namespace roce::fabric {

namespace detail {

void watch(State& state, PortId id) {
  if (!state.config.switches.watchdog) return;
  SwitchPort& own = state.switch_ports[id];
  const auto blocked = static_cast<std::uint8_t>(state.ports[id].paused & own.egress.filled());
  for (std::uint32_t priority = 0; priority < kPriorities; ++priority) {
    Picoseconds& since = own.blocked_since[priority];
    if ((blocked & bit_of(priority)) == 0) {
      since = -1;
    } else if (since < 0) {
      since = state.now;
      const Picoseconds due = since + picoseconds_of(state.config.switches.watchdog->detection);
      state.events.add(due, EventKind::watchdog, id, priority);
    }
  }
}

void on_watchdog(State& state, PortId id, std::uint32_t priority) {
  const Watchdog& watchdog = *state.config.switches.watchdog;
  SwitchPort& own = state.switch_ports[id];
  Port& port = state.ports[id];
  const Picoseconds since = own.blocked_since[priority];
  if (since < 0 || state.now - since < picoseconds_of(watchdog.detection)) return;
  port.ignored |= bit_of(priority);
  std::uint64_t frames = 0;
  while ((own.egress.filled() & bit_of(priority)) != 0) {
    const std::uint32_t frame = own.egress.pop(state.frames, priority, state.quanta);
    leave_buffer(state, state.frames[frame]);
    state.frames.give_back(frame);
    ++frames;
  }
  own.blocked_since[priority] = -1;
  port.counters.watchdog_drops += frames;
  state.totals.watchdog_drops += frames;
  state.watchdog_events.push_back({time_of(state.now), id, static_cast<std::uint8_t>(priority), frames});
  state.events.add(state.now + picoseconds_of(watchdog.restoration), EventKind::watchdog_restore, id, priority);
}

void on_watchdog_restore(State& state, PortId id, std::uint32_t priority) {
  Port& port = state.ports[id];
  if ((port.paused & bit_of(priority)) != 0) {
    const Picoseconds again = state.now + picoseconds_of(state.config.switches.watchdog->restoration);
    state.events.add(again, EventKind::watchdog_restore, id, priority);
    return;
  }
  port.ignored &= static_cast<std::uint8_t>(~bit_of(priority));
}

namespace {

using Successors = std::map<PortId, std::set<PortId>>;

/// Returns which paused port waits for which others: frames that came from it fill their queues.
[[nodiscard]] Successors waits_of(const State& state, std::uint32_t priority) {
  const auto is_blocked = [&](PortId id) {
    return !state.is_host(state.ports[id].node) &&
           (state.ports[id].paused & state.switch_ports[id].egress.filled() & bit_of(priority)) != 0;
  };
  Successors waits;
  for (PortId id = 0; id < state.ports.size(); ++id) {
    if (!is_blocked(id)) continue;
    const Egress& egress = state.switch_ports[id].egress;
    for (std::uint32_t frame = egress.first(priority); frame != kNone; frame = state.frames[frame].next) {
      const PortId behind = state.frames[frame].came_by ^ 1U;
      if (is_blocked(behind)) waits[behind].insert(id);
    }
  }
  return waits;
}

[[nodiscard]] std::vector<PortId> find_circle(Successors waits) {
  // Ports that wait for nobody are in no circle, nor are those that wait only for such.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [id, next] : waits) changed |= std::erase_if(next, [&](PortId to) { return !waits.contains(to); }) != 0;
    changed |= std::erase_if(waits, [](const auto& entry) { return entry.second.empty(); }) != 0;
  }
  if (waits.empty()) return {};
  std::vector<PortId> path{waits.begin()->first};
  for (;;) {
    const PortId next = *waits.at(path.back()).begin();
    const auto seen = std::ranges::find(path, next);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(next);
  }
}

}  // namespace

}  // namespace detail

std::vector<PortId> Fabric::find_deadlock() const {
  for (std::uint32_t priority = 0; priority < detail::kPriorities; ++priority) {
    std::vector<PortId> circle = detail::find_circle(detail::waits_of(*state_, priority));
    if (!circle.empty()) return circle;
  }
  return {};
}

}  // namespace roce::fabric
