// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/pause_timers.h"

#include <algorithm>

#include "port/faults.h"
#include "roce/wire/mac_control.h"

namespace roce::port {

void PauseTimers::pause(unsigned priority, std::uint16_t quanta, Time now) {
  constexpr std::uint64_t ps_per_ns = 1000;
  std::uint64_t ns = (pause_picoseconds(quanta, bits_per_second_) + ps_per_ns - 1) / ps_per_ns;
  if (fault(Fault::pfc_double_time)) ns *= 2;
  if (fault(Fault::pfc_zero_ignored) && quanta == 0) return;
  if (fault(Fault::pfc_longest_wins) && quanta != 0 && until_[priority] > now + Duration{ns}) return;
  until_[priority] = now + Duration{static_cast<Duration::rep>(ns)};
}

bool PauseTimers::receive(const Packet& packet, Time now) {
  if (const std::optional<Pfc> pfc = packet.get<Pfc>()) {
    for (unsigned priority = 0; priority < until_.size(); ++priority) {
      if (fault(Fault::pfc_high_byte) && (pfc->reserved >> priority & 1) != 0)
        pause(priority, pfc->timer(priority), now);
      if (!pfc->enabled(priority) && !fault(Fault::pfc_no_enable)) continue;
      if ((obeyed_ >> priority & 1U) == 0) continue;
      pause(priority, pfc->timer(priority), now);
      if (fault(Fault::pfc_all_classes)) {
        for (unsigned other = 0; other < until_.size(); ++other) pause(other, pfc->timer(priority), now);
      }
    }
    return true;
  }
  if (const std::optional<Pause> all = packet.get<Pause>()) {
    if (fault(Fault::pause_ignored)) return true;
    for (unsigned priority = 0; priority < until_.size(); ++priority) {
      pause(priority, all->quanta, now);
      if (fault(Fault::pause_one_class)) break;
    }
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
