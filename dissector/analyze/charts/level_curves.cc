// SPDX-License-Identifier: BSD-2-Clause
// Levels over time of what each requester had under way, in bounded memory.
#include "analyze/charts/level_curves.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace roce::analyze {

// Makes the last interval the one of a time, or keeps it if the time is earlier.
void LevelCurve::reach(std::int64_t time_ns) {
  if (intervals_.empty()) {
    start_ns_ = time_ns;
    intervals_.push_back({std::numeric_limits<std::uint32_t>::max(), 0});
    return;
  }
  if (time_ns < start_ns_) return;
  // Wraps instead of overflowing: times may be as far apart as 64 bits allow.
  const std::uint64_t since = static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(start_ns_);
  while (since >> shift_ >= kMost) {
    for (std::size_t i = 0; i < intervals_.size(); i += 2) {
      const Interval& next = intervals_[std::min(i + 1, intervals_.size() - 1)];
      intervals_[i / 2] = {std::min(intervals_[i].low, next.low), std::max(intervals_[i].high, next.high)};
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    ++shift_;
  }
  const auto size = static_cast<std::size_t>(since >> shift_) + 1;
  if (size > intervals_.size()) intervals_.resize(size, {latest_, latest_});
}

void UnderWayCurves::add(const analysis::UnderWay& under_way) {
  std::array<LevelCurve, 2>* const curves = streams_.find_or_make(under_way.stream);
  if (curves == nullptr) return;
  (*curves)[under_way.direction].add(under_way.time.time_since_epoch().count(), under_way.psns);
}

void UnderWayCurves::hold(std::int64_t time_ns) {
  streams_.for_each([&](std::array<LevelCurve, 2>& curves) {
    for (LevelCurve& curve : curves) curve.hold(time_ns);
  });
}

void UnderWayCurves::absorb(std::uint32_t from, std::uint32_t into) {
  const std::unique_ptr<std::array<LevelCurve, 2>> old = streams_.extract(from);
  std::array<LevelCurve, 2>* const curves = old == nullptr ? nullptr : streams_.find_or_make(into);
  if (curves == nullptr) return;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    LevelCurve& curve = (*curves)[direction];
    if (curve.intervals().empty()) curve = std::move((*old)[1 - direction]);
  }
}

const LevelCurve* UnderWayCurves::curve(std::uint32_t stream, std::uint8_t direction) const {
  const std::array<LevelCurve, 2>* const curves = streams_.find(stream);
  return curves == nullptr || (*curves)[direction].intervals().empty() ? nullptr : &(*curves)[direction];
}

}  // namespace roce::analyze
