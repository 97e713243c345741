// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/verdict_counts.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace roce::analyze {

using analysis::VerdictKind;

std::uint64_t packets_of(const analysis::Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::request_lost_before:
    case VerdictKind::response_lost_before:
    case VerdictKind::request_lost_after:
    case VerdictKind::response_lost_after:
    case VerdictKind::lost_beyond:
      return verdict.lost_packets;
    default:
      return verdict.psn_count;
  }
}

std::uint64_t LossPlaces::*VerdictTotals::add(const analysis::Verdict& verdict) {
  const std::int64_t time_ns = verdict.time.time_since_epoch().count();
  kinds[static_cast<std::size_t>(verdict.kind)] += {1, packets_of(verdict), verdict.packet.frame, time_ns, time_ns};
  ++rules[static_cast<std::size_t>(verdict.rule)];
  std::uint64_t LossPlaces::*place = nullptr;
  switch (verdict.kind) {
    case VerdictKind::request_lost_before:
    case VerdictKind::response_lost_before:
      if (verdict.cause == analysis::Cause::corrupted) losses.damaged += verdict.lost_packets;
      place = &LossPlaces::before;
      break;
    case VerdictKind::request_lost_after:
    case VerdictKind::response_lost_after:
      place = &LossPlaces::after;
      break;
    case VerdictKind::lost_beyond:
      place = &LossPlaces::beyond;
      break;
    case VerdictKind::cm_repeated:
      ++cm.by_message[static_cast<std::uint16_t>(verdict.cm_message)];
      return nullptr;
    case VerdictKind::setup_delayed:
      cm.slowest_setup_ns = std::max(cm.slowest_setup_ns, verdict.elapsed.count());
      return nullptr;
    default:
      return nullptr;
  }
  losses.*place += verdict.lost_packets;
  return place;
}

void VerdictCounts::add(const analysis::Verdict& verdict) {
  if (const auto place = VerdictTotals::add(verdict)) losses_of_stream[verdict.stream].*place += verdict.lost_packets;
}

LossPlaces& LossPlaces::operator+=(const LossPlaces& other) {
  before += other.before;
  after += other.after;
  beyond += other.beyond;
  damaged += other.damaged;
  return *this;
}

CmRepetitions& CmRepetitions::operator+=(const CmRepetitions& other) {
  for (const auto& [message, count] : other.by_message) by_message[message] += count;
  slowest_setup_ns = std::max(slowest_setup_ns, other.slowest_setup_ns);
  return *this;
}

VerdictCount& VerdictCount::operator+=(const VerdictCount& other) {
  if (other.verdicts == 0) return *this;
  if (verdicts == 0 || std::tie(other.first_ns, other.first_frame) < std::tie(first_ns, first_frame)) {
    first_ns = other.first_ns;
    first_frame = other.first_frame;
  }
  last_ns = verdicts == 0 ? other.last_ns : std::max(last_ns, other.last_ns);
  verdicts += other.verdicts;
  packets += other.packets;
  return *this;
}

VerdictTotals& VerdictTotals::operator+=(const VerdictTotals& other) {
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] += other.kinds[i];
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i] += other.rules[i];
  losses += other.losses;
  cm += other.cm;
  return *this;
}

VerdictCounts& VerdictCounts::operator+=(const VerdictCounts& other) {
  VerdictTotals::operator+=(other);
  for (const auto& [stream, places] : other.losses_of_stream) losses_of_stream[stream] += places;
  return *this;
}

std::uint64_t VerdictTotals::all() const {
  return std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const VerdictCount& each) { return sum + each.verdicts; });
}

LossPlaces VerdictCounts::lost_of(std::uint32_t stream) const {
  const auto found = losses_of_stream.find(stream);
  return found == losses_of_stream.end() ? LossPlaces{} : found->second;
}

}  // namespace roce::analyze
