// SPDX-License-Identifier: BSD-2-Clause
// What each requester had under way over time, in bounded memory.
#include "analyze/charts/level_curves.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace roce::analyze {

void LevelCurve::add(std::int64_t time_ns, std::uint64_t value) {
  if (!start_ns_) start_ns_ = time_ns;
  // Wraps instead of overflowing: times may be as far apart as 64 bits allow.
  const std::uint64_t since =
      time_ns < *start_ns_ ? 0 : static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(*start_ns_);
  while (since / width_ns_ >= kMost) {
    for (std::size_t i = 0; i < intervals_.size(); i += 2) {
      Interval joined = intervals_[i];
      if (i + 1 < intervals_.size()) {
        joined = {std::min(joined.low, intervals_[i + 1].low), std::max(joined.high, intervals_[i + 1].high)};
      }
      intervals_[i / 2] = joined;
    }
    intervals_.resize((intervals_.size() + 1) / 2);
    width_ns_ *= 2;
  }
  const std::size_t at = std::max<std::size_t>(static_cast<std::size_t>(since / width_ns_) + 1, intervals_.size());
  const bool is_first = intervals_.empty();
  intervals_.resize(at, {latest_, latest_});
  latest_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
  Interval& interval = intervals_.back();
  interval = is_first ? Interval{latest_, latest_}
                      : Interval{std::min(interval.low, latest_), std::max(interval.high, latest_)};
}

void UnderWayCurves::add(const analysis::UnderWay& under_way) {
  std::array<LevelCurve, 2>* const curves = streams_.find_or_make(under_way.stream);
  if (curves == nullptr) return;
  (*curves)[under_way.direction].add(under_way.time.time_since_epoch().count(), under_way.psns);
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
