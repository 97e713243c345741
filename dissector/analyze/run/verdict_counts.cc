// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/verdict_counts.h"

#include <numeric>

namespace roce::analyze {

using analysis::VerdictKind;

void VerdictCounts::add(const analysis::Verdict& verdict) {
  VerdictCount& count = kinds[static_cast<std::size_t>(verdict.kind)];
  ++count.verdicts;
  count.packets += verdict.psn_count;
  ++rules[static_cast<std::size_t>(verdict.rule)];
  const auto lose = [&](std::uint64_t LossPlaces::*place) {
    losses.*place += verdict.psn_count;
    losses_of_stream[verdict.stream].*place += verdict.psn_count;
  };
  switch (verdict.kind) {
    case VerdictKind::request_lost_before:
    case VerdictKind::response_lost_before:
      if (verdict.cause == analysis::Cause::corrupted) losses.damaged += verdict.psn_count;
      return lose(&LossPlaces::before);
    case VerdictKind::request_lost_after:
    case VerdictKind::response_lost_after:
      return lose(&LossPlaces::after);
    case VerdictKind::lost_beyond:
      return lose(&LossPlaces::beyond);
    default:
      return;
  }
}

LossPlaces& LossPlaces::operator+=(const LossPlaces& other) {
  before += other.before;
  after += other.after;
  beyond += other.beyond;
  damaged += other.damaged;
  return *this;
}

VerdictCounts& VerdictCounts::operator+=(const VerdictCounts& other) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].verdicts += other.kinds[i].verdicts;
    kinds[i].packets += other.kinds[i].packets;
  }
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i] += other.rules[i];
  losses += other.losses;
  for (const auto& [stream, places] : other.losses_of_stream) losses_of_stream[stream] += places;
  return *this;
}

std::uint64_t VerdictCounts::all() const {
  return std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const VerdictCount& each) { return sum + each.verdicts; });
}

LossPlaces VerdictCounts::lost_of(std::uint32_t stream) const {
  const auto found = losses_of_stream.find(stream);
  return found == losses_of_stream.end() ? LossPlaces{} : found->second;
}

}  // namespace roce::analyze
