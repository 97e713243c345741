// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "roce/transport/pacing.h"

namespace roce::transport::detail {

/// Decides when a QP with a rate limit may send its next packet (CC-07). There are two limits: the average is the rate
/// that was asked for, so that a host that is late catches up; it catches up at no more than twice that rate.
class Pacer {
 public:
  Pacer(std::unique_ptr<RateLimiter> limiter, std::uint64_t packets_per_second)
      : limiter_(std::move(limiter)), packet_spacing_(spacing(1, packets_per_second)) {}

  [[nodiscard]] RateLimiter* limiter() const { return limiter_.get(); }
  [[nodiscard]] Time may_send_at() const { return std::max(average_, peak_); }
  [[nodiscard]] Time next_change() const { return limiter_ == nullptr ? kNever : limiter_->next_change(); }

  /// Notes that something waits for `may_send_at`.
  void hold_back() { backlog_ = true; }
  /// Charges one packet of `bytes` bytes that was sent; `backlog` if more waits. 0 bytes: nothing was there to send.
  void charge(std::uint64_t bytes, bool backlog, Time now);

 private:
  /// Returns the time that `count` units take at `per_second`, rounded up; 0: no limit.
  [[nodiscard]] static Duration spacing(std::uint64_t count, std::uint64_t per_second);

  std::unique_ptr<RateLimiter> limiter_;  // nullptr: only the packet rate is limited
  Duration packet_spacing_;
  Time average_ = Time::min();
  Time peak_ = Time::min();
  bool backlog_ = false;
};

}  // namespace roce::transport::detail
