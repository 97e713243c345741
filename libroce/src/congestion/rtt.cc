// SPDX-License-Identifier: BSD-2-Clause
// TIMELY's algorithm 1 (Mittal et al., SIGCOMM 2015, section 4.3), one step for each sample.
#include "roce/congestion/rtt.h"

#include <algorithm>
#include <cmath>

namespace roce::congestion {

namespace {

class Rtt final : public CongestionControl {
 public:
  explicit Rtt(const RttParameters& parameters) : p_(parameters) {}

  void start(const Path& path, Time /*now*/) override {
    max_ = rate_ = static_cast<double>(p_.max_rate_bps != 0 ? p_.max_rate_bps : path.line_rate_bps);
    min_ = std::min(max_, static_cast<double>(p_.min_rate_bps));
  }
  void on_cnp(Time /*now*/) override {}

  void on_acknowledged(const Acknowledged& acknowledged) override {
    if (!acknowledged.rtt) return;
    const auto rtt = static_cast<double>(acknowledged.rtt->count());
    if (previous_ != 0) trend_ = (1 - p_.ewma) * trend_ + p_.ewma * (rtt - previous_);
    previous_ = rtt;
    const auto high = static_cast<double>(p_.t_high.count());
    const double gradient = trend_ / static_cast<double>(p_.min_rtt.count());
    if (rtt < static_cast<double>(p_.t_low.count())) {
      increases_ = 0;
      raise(1);
    } else if (rtt > high) {
      increases_ = 0;
      lower(p_.beta * (1 - high / rtt));
    } else if (gradient <= 0) {
      constexpr double hyper_steps = 5;
      increases_ = std::min(increases_ + 1, p_.hai_after);
      raise(increases_ < p_.hai_after ? 1 : hyper_steps);
    } else {
      increases_ = 0;
      lower(p_.beta * gradient);
    }
  }

  [[nodiscard]] Output output(Time /*now*/) override {
    const bool at_line = p_.max_rate_bps == 0 && rate_ >= max_;
    return {.rate_bps = at_line ? 0 : static_cast<std::uint64_t>(std::llround(rate_)),
            .burst_bytes = p_.burst_bytes,
            .hears_acknowledged = true};
  }

  [[nodiscard]] Reading reading(Time /*now*/) override {
    return {.limited = rate_ < max_, .rate_bps = rate_, .target_bps = rate_};
  }

 private:
  void raise(double steps) { rate_ = std::min(max_, rate_ + steps * static_cast<double>(p_.add_bps)); }
  void lower(double share) { rate_ = std::max(min_, rate_ * (1 - share)); }

  RttParameters p_;
  double max_ = 0;
  double min_ = 0;
  double rate_ = 0;
  double previous_ = 0;  // ns; 0: no sample yet
  double trend_ = 0;     // ns
  std::uint32_t increases_ = 0;
};

}  // namespace

std::unique_ptr<CongestionControl> make_rtt(const RttParameters& parameters) {
  return std::make_unique<Rtt>(parameters);
}

}  // namespace roce::congestion
