// SPDX-License-Identifier: BSD-2-Clause
#include "transport/pacer.h"

#include <cmath>

namespace roce::transport::detail {

namespace {

constexpr std::uint64_t kBitsPerByte = 8;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
/// The longest lateness that a limit makes up for.
constexpr Duration kLongestLateness = std::chrono::milliseconds{100};
/// The lateness that it makes up for at once: hosts are not more punctual than that.
constexpr Duration kBurst = std::chrono::microseconds{50};

/// Returns the time that `count` units take at `per_second`, rounded up; 0: no limit.
[[nodiscard]] Duration spacing(std::uint64_t count, std::uint64_t per_second) {
  if (per_second == 0) return Duration{0};
  return Duration{static_cast<Duration::rep>((count * kNsPerSecond + per_second - 1) / per_second)};
}

}  // namespace

void Pacer::limit(std::uint64_t bits_per_second, std::uint64_t packets_per_second) {
  bits_per_second_ = bits_per_second;
  packet_spacing_ = spacing(1, packets_per_second);
  average_ = peak_ = Time::min();
}

void Pacer::control(std::unique_ptr<congestion::CongestionControl> control, const congestion::Path& path, Time now) {
  control_ = std::move(control);
  output_ = {};
  next_ = Time::min();
  fraction_ = 0;
  backlog_ = has_una_ = false;
  sample_.forget();
  if (control_ == nullptr) return;
  mtu_ = path.mtu;
  control_->start(path, now);
  output_ = control_->output(now);
}

void Pacer::charge_limits(std::uint64_t bytes, Time now) {
  const Duration cost = std::max(packet_spacing_, spacing(bytes * kBitsPerByte, bits_per_second_));
  // Data that was not yet there to send is not late.
  const Duration lateness = backlog_ ? kLongestLateness : Duration{0};
  average_ = std::max(average_, now - lateness) + cost;
  peak_ = std::max(peak_, now - kBurst) + cost / 2;
}

void Pacer::charge_control(std::uint64_t bytes, Time now) {
  if (output_.hears_sent) {
    control_->on_sent({.now = now, .bytes = bytes});
    output_ = control_->output(now);
  }
  if (output_.rate_bps == 0) return;
  const double ns_per_byte = static_cast<double>(kBitsPerByte * kNsPerSecond) / static_cast<double>(output_.rate_bps);
  const double cost = static_cast<double>(bytes) * ns_per_byte + fraction_;
  const double whole = std::floor(cost);
  const auto burst_bytes = static_cast<double>(std::max<std::uint64_t>(bytes, output_.burst_bytes));
  const Duration lateness{backlog_ ? static_cast<Duration::rep>(burst_bytes * ns_per_byte) : 0};
  const Time earliest = now - lateness;
  // A turn that begins anew does not owe a fraction.
  fraction_ = next_ < earliest ? 0 : cost - whole;
  next_ = std::max(next_, earliest) + Duration{static_cast<Duration::rep>(whole)};
}

void Pacer::charge(std::uint64_t bytes, bool backlog, Time now) {
  if (bytes != 0) {
    if (has_limits()) charge_limits(bytes, now);
    if (control_ != nullptr) charge_control(bytes, now);
  }
  backlog_ = backlog;
}

void Pacer::on_cnp(Time now) {
  if (control_ == nullptr) return;
  control_->on_cnp(now);
  output_ = control_->output(now);
}

void Pacer::on_progress(Psn una, Psn sent_end, Time now) {
  if (!output_.hears_acknowledged) return;
  congestion::Acknowledged acknowledged{.now = now};
  if (has_una_) acknowledged.packets = static_cast<std::uint32_t>(std::max(una.distance_from(una_), 0));
  acknowledged.in_flight = static_cast<std::uint32_t>(std::max(sent_end.distance_from(una), 0));
  has_una_ = true;
  una_ = una;
  acknowledged.rtt = sample_.end(una, now);
  control_->on_acknowledged(acknowledged);
  output_ = control_->output(now);
}

void Pacer::on_loss(congestion::Loss loss, Time now) {
  forget_sample();
  if (!output_.hears_losses) return;
  control_->on_loss(loss, now);
  output_ = control_->output(now);
}

}  // namespace roce::transport::detail
