// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "gen/exchange_options.h"
#include "roce/wire/time.h"
#include "runtime/rate.h"

namespace roce::gen {

/// When frames go out. No clock: the caller says what time it is.
class SendSchedule {
 public:
  struct Options {
    runtime::Rate rate{};  ///< `bps` counts whole frames, from the Ethernet header on and without FCS; both 0: at once
    std::uint64_t burst = 1;  ///< so many frames go together; the rate is kept over all bursts
    Duration on{0};           ///< frames go for this long, then none for `off`, and so on; 0: always
    Duration off{0};
  };

  SendSchedule(const Options& options, Time begin) : options_(options), begin_(begin), due_(begin) {}

  /// When the next frame may go; not before `now` where it is late.
  [[nodiscard]] Time next(Time now) const;
  /// Says that a frame of so many bytes went, or is about to.
  void sent(std::size_t bytes, Time now);
  /// Whether frames go at this time, and not the pause between.
  [[nodiscard]] bool is_on(Time time) const;
  /// When that changes next; `kNever` without a pause.
  [[nodiscard]] Time next_change(Time time) const;

 private:
  [[nodiscard]] Duration into_period(Time time) const;

  Options options_;
  Time begin_;
  Time due_;
  Duration burst_cost_{0};  ///< of what went of the present burst
  std::uint64_t in_burst_ = 0;
};

}  // namespace roce::gen
