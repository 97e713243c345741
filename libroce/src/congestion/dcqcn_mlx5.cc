// SPDX-License-Identifier: BSD-2-Clause
// DCQCN by the parameters of ConnectX: alpha has a clock of its own, and so have cuts.
#include "roce/congestion/dcqcn_mlx5.h"

#include <cmath>

#include "congestion/increase.h"

namespace roce::congestion {

namespace {

constexpr double kOneOfAlpha = 1024;
constexpr double kMbit = 1e6;
/// A CNP in the very moment in which a monitor period ends belongs to that period.
constexpr Duration kBehindCnp{1};

class DcqcnMlx5 final : public CongestionControl {
 public:
  explicit DcqcnMlx5(const Mlx5Parameters& parameters)
      : p_(parameters),
        keep_(parameters.dce_tcp_g / kOneOfAlpha),
        alpha_period_(std::chrono::microseconds{parameters.dce_tcp_rtt}),
        cut_period_(std::chrono::microseconds{parameters.rate_reduce_monitor_period}),
        rate_period_(std::chrono::microseconds{parameters.rpg_time_reset}),
        byte_period_(std::int64_t{parameters.rpg_byte_reset} * parameters.byte_reset_unit) {}

  void start(const Path& path, Time /*now*/) override {
    const double line = p_.rpg_max_rate != 0 ? p_.rpg_max_rate * kMbit : static_cast<double>(path.line_rate_bps);
    rates_.max = rates_.rate = rates_.target = line;
    rates_.min = std::min(line, p_.rpg_min_rate * kMbit);
    rates_.ai = p_.rpg_ai_rate * kMbit;
    rates_.hai = p_.rpg_hai_rate * kMbit;
    rates_.f = p_.rpg_threshold;
    rates_.counts_bytes = byte_period_ != 0;
  }

  void on_cnp(Time now) override {
    advance(now);
    if (!limited_) {
      limited_ = true;
      alpha_ = p_.initial_alpha_value / kOneOfAlpha;
      alpha_tick_ = now + alpha_period_;
      cut_grid_ = now + cut_period_ + kBehindCnp;
      bytes_left_ = byte_period_;
      if (p_.rate_to_set_on_first_cnp != 0) {
        rates_.rate = std::clamp(p_.rate_to_set_on_first_cnp * kMbit, rates_.min, rates_.max);
      }
      // The first CNP is in the initial alpha.
      request_cut(now);
      return;
    }
    cnp_since_tick_ = true;
    request_cut(now);
  }

  void on_sent(const Sent& sent) override {
    if (!limited_ || byte_period_ == 0) return;
    advance(sent.now);
    bytes_left_ -= static_cast<std::int64_t>(sent.bytes);
    while (bytes_left_ <= 0) {
      bytes_left_ += byte_period_;
      ++rates_.byte_stage;
      rates_.step();
    }
  }

  [[nodiscard]] Output output(Time now) override {
    if (!limited_) return {};
    advance(now);
    return {.rate_bps = static_cast<std::uint64_t>(std::llround(rates_.rate)),
            .burst_bytes = p_.burst_bytes,
            .next_change = std::min(cut_at_, rate_timer_),
            .hears_sent = byte_period_ != 0};
  }

  [[nodiscard]] Reading reading(Time now) override {
    advance(now);
    return rates_.reading(limited_, alpha_);
  }

 private:
  /// Lets the rate be cut at the end of the monitor period that is under way.
  void request_cut(Time now) {
    if (cut_period_ == Duration{0}) return cut(now);
    if (cut_at_ != kNever) return;
    if (cut_grid_ <= now) cut_grid_ += ((now - cut_grid_) / cut_period_ + 1) * cut_period_;
    cut_at_ = cut_grid_;
  }

  void cut(Time now) {
    const double part = alpha_ * std::exp2(10 - static_cast<double>(p_.rpg_gd));
    const bool raised_by_time = p_.clamp_tgt_rate_after_time_inc && rates_.time_stage > 0;
    rates_.cut(std::max(p_.rpg_min_dec_fac / 100.0, 1 - part), p_.clamp_tgt_rate || raised_by_time);
    bytes_left_ = byte_period_;
    rate_timer_ = now + rate_period_;
  }

  void advance_alpha(Time now) {
    if (alpha_tick_ > now) return;
    const std::int64_t ticks = (now - alpha_tick_) / alpha_period_ + 1;
    alpha_ *= std::pow(keep_, static_cast<double>(ticks));
    // The CNP is seen by the first tick, and decays with the others.
    if (cnp_since_tick_) alpha_ += (1 - keep_) * std::pow(keep_, static_cast<double>(ticks - 1));
    cnp_since_tick_ = false;
    alpha_tick_ += ticks * alpha_period_;
  }

  /// Lets everything that is due by `now` happen, in the order of its times.
  void advance(Time now) {
    if (!limited_) return;
    while (std::min(cut_at_, rate_timer_) <= now) {
      if (cut_at_ < rate_timer_) {
        advance_alpha(cut_at_);
        const Time at = cut_at_;
        cut_at_ = kNever;
        cut(at);
        continue;
      }
      ++rates_.time_stage;
      rates_.step();
      rate_timer_ += rate_period_;
      const Time until = std::min(cut_at_, now);
      if (!rates_.is_full() || rate_timer_ > until) continue;
      // A limiter that was silent for hours has nothing left to raise.
      const std::int64_t times = (until - rate_timer_) / rate_period_ + 1;
      rates_.time_stage += static_cast<std::uint64_t>(times);
      rate_timer_ += times * rate_period_;
    }
    advance_alpha(now);
  }

  Mlx5Parameters p_;
  double keep_;
  Duration alpha_period_;
  Duration cut_period_;
  Duration rate_period_;
  std::int64_t byte_period_;
  Increase rates_;
  bool limited_ = false;
  bool cnp_since_tick_ = false;
  double alpha_ = 0;
  std::int64_t bytes_left_ = 0;
  Time alpha_tick_ = kNever;
  Time rate_timer_ = kNever;
  Time cut_at_ = kNever;  ///< end of the period in which a CNP came
  Time cut_grid_ = kNever;
};

}  // namespace

std::unique_ptr<CongestionControl> make_dcqcn_mlx5(const Mlx5Parameters& parameters) {
  return std::make_unique<DcqcnMlx5>(parameters);
}

}  // namespace roce::congestion
