// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// --- own_control.h
#include <algorithm>
#include <cstdint>

#include "roce/congestion/control.h"

/// Halves its rate at a CNP, at most once in a period, and adds a step in each period without one.
class HalveAndAdd final : public roce::congestion::CongestionControl {
 public:
  void start(const roce::congestion::Path& path, roce::Time now) override {
    line_ = rate_ = path.line_rate_bps;
    next_ = now + kPeriod;
  }

  void on_cnp(roce::Time now) override {
    catch_up(now);
    if (halved_) return;
    halved_ = true;
    rate_ = std::max(rate_ / 2, kStep);
  }

  [[nodiscard]] roce::congestion::Output output(roce::Time now) override {
    catch_up(now);
    if (rate_ == line_) return {};  // without a limit a QP costs nothing
    return {.rate_bps = rate_, .burst_bytes = 16384, .next_change = next_};
  }

  [[nodiscard]] roce::congestion::Reading reading(roce::Time now) override {
    catch_up(now);
    const auto rate = static_cast<double>(rate_);
    return {.limited = rate_ != line_, .rate_bps = rate, .target_bps = rate};
  }

 private:
  static constexpr roce::Duration kPeriod = std::chrono::microseconds{100};
  static constexpr std::uint64_t kStep = 100'000'000;  // bits a second

  /// Does what was due by `now`: nobody calls a controller at the times that it would like.
  void catch_up(roce::Time now) {
    if (now < next_) return;
    const auto periods = static_cast<std::uint64_t>((now - next_) / kPeriod + 1);
    rate_ = std::min(line_, rate_ + (periods - (halved_ ? 1 : 0)) * kStep);
    halved_ = false;
    next_ += periods * kPeriod;
  }

  std::uint64_t line_ = 0;
  std::uint64_t rate_ = 0;
  bool halved_ = false;  // in this period
  roce::Time next_{};    // end of this period
};
// --- end
