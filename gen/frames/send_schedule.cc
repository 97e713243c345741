// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/send_schedule.h"

#include <algorithm>

namespace roce::gen {

namespace {

/// The longest lateness that is made up for.
constexpr Duration kLongestLateness = std::chrono::milliseconds{100};

[[nodiscard]] Duration spacing(std::uint64_t count, std::uint64_t per_second) {
  constexpr double ns_per_second = 1e9;
  if (per_second == 0) return Duration{0};
  return Duration{
      static_cast<Duration::rep>(static_cast<double>(count) * ns_per_second / static_cast<double>(per_second))};
}

}  // namespace

Duration SendSchedule::into_period(Time time) const {
  return (time - begin_) % (options_.on + options_.off);
}

Time SendSchedule::next_change(Time time) const {
  if (options_.off == Duration{0}) return kNever;
  const Duration into = into_period(time);
  return time + ((into < options_.on ? options_.on : options_.on + options_.off) - into);
}

Time SendSchedule::next_limited(Time now) const {
  const Time due = std::max(due_, now);
  return is_on(due) ? due : next_change(due);
}

void SendSchedule::count(std::size_t bytes, Time now) {
  constexpr std::uint64_t bits_per_byte = 8;
  burst_cost_ += std::max(spacing(bytes * bits_per_byte, options_.rate.bps), spacing(1, options_.rate.pps));
  if (++in_burst_ < options_.burst) return;
  Time earliest = now - kLongestLateness;
  // Frames that were not sent because of a pause are not late.
  if (options_.off != Duration{0}) earliest = std::max(earliest, now - into_period(now));
  due_ = std::max(due_, earliest) + burst_cost_;
  burst_cost_ = Duration{0};
  in_burst_ = 0;
}

}  // namespace roce::gen
