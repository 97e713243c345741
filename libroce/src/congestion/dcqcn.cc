// SPDX-License-Identifier: BSD-2-Clause
// The reaction point of DCQCN as its paper describes it (Zhu et al., SIGCOMM 2015, section 3.1).
#include "roce/congestion/dcqcn.h"

#include <cmath>

#include "congestion/increase.h"

namespace roce::congestion {

namespace {

class Dcqcn final : public CongestionControl {
 public:
  explicit Dcqcn(const DcqcnParameters& parameters) : p_(parameters) {}

  void start(const Path& path, Time /*now*/) override {
    const auto line = static_cast<double>(p_.max_rate_bps != 0 ? p_.max_rate_bps : path.line_rate_bps);
    rates_.max = rates_.rate = rates_.target = line;
    rates_.min = std::min(line, static_cast<double>(p_.min_rate_bps));
    rates_.ai = static_cast<double>(p_.ai_bps);
    rates_.hai = static_cast<double>(p_.hai_bps);
    rates_.f = p_.f;
    rates_.counts_bytes = p_.byte_counter != 0;
    rates_.hyper_grows = true;
    rates_.hyper_extra = p_.hyper_from_next ? 1 : 0;
  }

  void on_cnp(Time now) override {
    advance(now);
    if (!limited_) {
      limited_ = true;
      alpha_ = p_.initial_alpha;
    }
    if (p_.alpha_before_cut) raise_alpha();
    rates_.cut(1 - alpha_ / 2, true);
    if (!p_.alpha_before_cut) raise_alpha();
    if (p_.recovers_after_cut) rates_.step();
    bytes_left_ = static_cast<std::int64_t>(p_.byte_counter);
    rate_timer_ = now + p_.rate_timer;
    alpha_timer_ = now + p_.alpha_timer;
  }

  void on_sent(const Sent& sent) override {
    if (!limited_ || p_.byte_counter == 0) return;
    advance(sent.now);
    bytes_left_ -= static_cast<std::int64_t>(sent.bytes);
    while (bytes_left_ <= 0) {
      ++rates_.byte_stage;
      rates_.step();
      const bool half = p_.hyper_halves_bytes && rates_.is_hyper();
      bytes_left_ += static_cast<std::int64_t>(half ? (p_.byte_counter + 1) / 2 : p_.byte_counter);
    }
  }

  [[nodiscard]] Output output(Time now) override {
    if (!limited_) return {};
    advance(now);
    return {.rate_bps = static_cast<std::uint64_t>(std::llround(rates_.rate)),
            .burst_bytes = p_.burst_bytes,
            .next_change = rate_timer_,
            .hears_sent = p_.byte_counter != 0};
  }

  [[nodiscard]] Reading reading(Time now) override {
    if (limited_) advance(now);
    return rates_.reading(limited_, alpha_);
  }

 private:
  void raise_alpha() { alpha_ = (1 - p_.g) * alpha_ + p_.g; }

  /// Lets the timers that have run out by `now` act. They do not depend on each other.
  void advance(Time now) {
    if (!limited_) return;
    if (alpha_timer_ <= now) {
      const std::int64_t times = (now - alpha_timer_) / p_.alpha_timer + 1;
      alpha_ *= std::pow(1 - p_.g, static_cast<double>(times));
      alpha_timer_ += times * p_.alpha_timer;
    }
    while (rate_timer_ <= now) {
      ++rates_.time_stage;
      rates_.step();
      rate_timer_ += p_.rate_timer;
      if (!rates_.is_full() || rate_timer_ > now) continue;
      // A limiter that was silent for hours has nothing left to raise.
      const std::int64_t times = (now - rate_timer_) / p_.rate_timer + 1;
      rates_.time_stage += static_cast<std::uint64_t>(times);
      rate_timer_ += times * p_.rate_timer;
    }
  }

  DcqcnParameters p_;
  Increase rates_;
  bool limited_ = false;
  double alpha_ = 0;
  std::int64_t bytes_left_ = 0;
  Time rate_timer_ = kNever;
  Time alpha_timer_ = kNever;
};

}  // namespace

std::unique_ptr<CongestionControl> make_dcqcn(const DcqcnParameters& parameters) {
  return std::make_unique<Dcqcn>(parameters);
}

}  // namespace roce::congestion
