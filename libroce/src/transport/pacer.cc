// SPDX-License-Identifier: BSD-2-Clause
#include "transport/pacer.h"

namespace roce::transport::detail {

namespace {

/// The longest lateness that is made up for.
constexpr Duration kLongestLateness = std::chrono::milliseconds{100};
/// The lateness that is made up for at once: hosts are not more punctual than that.
constexpr Duration kBurst = std::chrono::microseconds{50};

}  // namespace

Duration Pacer::spacing(std::uint64_t count, std::uint64_t per_second) {
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (per_second == 0) return Duration{0};
  return Duration{static_cast<Duration::rep>((count * ns_per_second + per_second - 1) / per_second)};
}

void Pacer::charge(std::uint64_t bytes, bool backlog, Time now) {
  if (bytes != 0) {
    constexpr std::uint64_t bits_per_byte = 8;
    Duration cost = packet_spacing_;
    if (limiter_ != nullptr) {
      limiter_->on_sent(bytes, now);
      cost = std::max(cost, spacing(bytes * bits_per_byte, limiter_->rate_bps(now)));
    }
    // Data that was not yet there to send is not late.
    const Duration lateness = backlog_ ? kLongestLateness : Duration{0};
    average_ = std::max(average_, now - lateness) + cost;
    peak_ = std::max(peak_, now - kBurst) + cost / 2;
    if (cost == Duration{0}) average_ = peak_ = now;
  }
  backlog_ = backlog;
}

}  // namespace roce::transport::detail
