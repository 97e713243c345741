// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "roce/wire/time.h"

namespace roce::transport {

/// Decides how fast a QP may send data. One object per QP; made by a `RateLimiterFactory`.
class RateLimiter {
 public:
  RateLimiter() = default;
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;
  virtual ~RateLimiter() = default;

  /// Returns the bits per second (BTH through ICRC) that may be sent from now on; 0: no limit.
  [[nodiscard]] virtual std::uint64_t rate_bps(Time now) = 0;
  /// Handles a congestion notification packet for this QP.
  virtual void on_cnp(Time now) = 0;
  /// Reports that `bytes` bytes were sent, for limiters that count.
  virtual void on_sent(std::uint64_t bytes, Time now) = 0;
  /// Returns when the rate next changes by itself; `kNever` if it does not.
  [[nodiscard]] virtual Time next_change() const = 0;
};

/// A constant rate, unaffected by congestion notifications.
class FixedRate final : public RateLimiter {
 public:
  explicit FixedRate(std::uint64_t bits_per_second) : rate_(bits_per_second) {}

  [[nodiscard]] std::uint64_t rate_bps(Time) override { return rate_; }
  void on_cnp(Time) override {}
  void on_sent(std::uint64_t, Time) override {}
  [[nodiscard]] Time next_change() const override { return kNever; }

 private:
  std::uint64_t rate_;
};

}  // namespace roce::transport
