// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/counter_check.h"

#include <fmt/format.h>

namespace roce::conform::fuzz {

std::optional<CounterDeviation> CounterCheck::judge(Counters now, std::uint64_t frames) {
  const Counters before = std::exchange(last_, std::move(now));
  for (const auto& [name, value] : before) {
    const auto found = last_.find(name);
    // Half of it, since other traffic has a share in it.
    const std::uint64_t least = value / 2;
    if (found == last_.end())
      return CounterDeviation{name, "the counter " + name + " is gone", name + " is gone", least};
    if (found->second >= value) continue;
    return CounterDeviation{name, fmt::format("the counter {} went back from {} to {}", name, value, found->second),
                            name + " went back", least};
  }
  const auto old = before.find(kSentPackets);
  if (old == before.end()) return std::nullopt;
  const std::uint64_t grown = last_.at(kSentPackets) - old->second;
  if (grown >= frames) return std::nullopt;
  return CounterDeviation{kSentPackets, fmt::format("{} frames came, and {} grew by {}", frames, kSentPackets, grown),
                          std::string{kSentPackets} + " is too small"};
}

}  // namespace roce::conform::fuzz
