// SPDX-License-Identifier: BSD-2-Clause
#include "transport/class_scheduler.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace roce::transport::detail {

namespace {

/// A round of all shares is less than a jumbo frame for each of three classes, so that none waits long for its turn.
constexpr std::int64_t kBytesPerPercent = 256;

[[nodiscard]] constexpr std::uint8_t bit_of(std::uint32_t number) {
  return static_cast<std::uint8_t>(1U << number);
}

}  // namespace

ClassScheduler::ClassScheduler(const TrafficClasses& classes) : class_of_(classes.class_of) {
  next_priority_.fill(7);
  for (std::uint8_t priority = 0; priority < 8; ++priority) priorities_[class_of_[priority]] |= bit_of(priority);
  for (std::uint8_t i = 8; i-- > 0;) {
    if (priorities_[i] == 0) continue;
    if (classes.selection[i] == TransmissionSelection::strict) {
      before_[before_count_++] = i;
    } else if (classes.percent[i] == 0) {
      behind_[behind_count_++] = i;
    } else {
      quanta_[i] = kBytesPerPercent * classes.percent[i];
      with_share_ |= bit_of(i);
    }
  }
}

std::uint8_t ClassScheduler::priority_in(std::uint8_t traffic_class, std::uint8_t ready) const {
  const auto wanted = static_cast<std::uint8_t>(priorities_[traffic_class] & ready);
  const std::uint8_t next = next_priority_[traffic_class];
  const int skipped = std::countl_zero(std::rotl(wanted, 7 - next));
  return static_cast<std::uint8_t>((next - skipped) & 7);
}

// CC-10 (strict classes, then shares by bytes)
std::uint8_t ClassScheduler::choose(std::uint8_t ready) {
  for (std::uint8_t i = 0; i < before_count_; ++i) {
    if ((priorities_[before_[i]] & ready) != 0) return priority_in(before_[i], ready);
  }
  std::uint8_t backlogged = 0;
  for (unsigned left = with_share_; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint8_t>(std::countr_zero(left));
    if ((priorities_[i] & ready) != 0) {
      backlogged |= bit_of(i);
    } else {
      // An idle class saves nothing up; a debt stays.
      deficits_[i] = std::min<std::int64_t>(deficits_[i], 0);
    }
  }
  if (backlogged != 0) return priority_in(next_with_share(backlogged), ready);
  std::uint8_t last = 0;
  while ((priorities_[behind_[last]] & ready) == 0) ++last;
  return priority_in(behind_[last], ready);
}

std::uint8_t ClassScheduler::next_with_share(std::uint8_t backlogged) {
  if ((backlogged & bit_of(turn_)) != 0 && deficits_[turn_] > 0) return turn_;
  // Whole rounds in which every class would only pay back pass at once.
  std::int64_t rounds = std::numeric_limits<std::int64_t>::max();
  for (unsigned left = backlogged; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    rounds = std::min(rounds, std::max<std::int64_t>(-deficits_[i], 0) / quanta_[i]);
  }
  for (unsigned left = backlogged; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    deficits_[i] += rounds * quanta_[i];
  }
  while (true) {
    turn_ = (turn_ + 1) & 7;
    if ((backlogged & bit_of(turn_)) == 0) continue;
    deficits_[turn_] += quanta_[turn_];
    if (deficits_[turn_] > 0) return turn_;
  }
}

void ClassScheduler::charge(std::uint8_t priority, std::uint64_t bytes) {
  deficits_[class_of_[priority]] -= static_cast<std::int64_t>(bytes);
}

}  // namespace roce::transport::detail
