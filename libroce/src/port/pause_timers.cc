// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/pause_timers.h"

#include <algorithm>

#include "roce/wire/mac_control.h"

namespace roce::port {

void PauseTimers::pause(unsigned priority, std::uint16_t quanta, Time now) {
  constexpr std::uint64_t ps_per_ns = 1000;
  const std::uint64_t ns = (pause_picoseconds(quanta, bits_per_second_) + ps_per_ns - 1) / ps_per_ns;
  until_[priority] = now + Duration{static_cast<Duration::rep>(ns)};
}

bool PauseTimers::receive(const Packet& packet, Time now) {
  if (const std::optional<Pfc> pfc = packet.get<Pfc>()) {
    for (unsigned priority = 0; priority < until_.size(); ++priority) {
      if (pfc->enabled(priority)) pause(priority, pfc->timer(priority), now);
    }
    return true;
  }
  if (const std::optional<Pause> all = packet.get<Pause>()) {
    for (unsigned priority = 0; priority < until_.size(); ++priority) pause(priority, all->quanta, now);
    return true;
  }
  return false;
}

std::uint8_t PauseTimers::paused(Time now) const {
  unsigned mask = 0;
  for (unsigned priority = 0; priority < until_.size(); ++priority) {
    if (until_[priority] > now) mask |= 1U << priority;
  }
  return static_cast<std::uint8_t>(mask);
}

Time PauseTimers::next_end(Time now) const {
  Time next = kNever;
  for (const Time until : until_) {
    if (until > now) next = std::min(next, until);
  }
  return next;
}

}  // namespace roce::port
