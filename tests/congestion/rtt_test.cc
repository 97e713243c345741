// SPDX-License-Identifier: BSD-2-Clause
// The controller by delay, and the fixed one.
#include <gtest/gtest.h>

#include <memory>

#include "roce/congestion/choice.h"

namespace roce::congestion {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kLine = 10'000'000'000;

/// A controller at work whose round trips the test chooses.
class Timely {
 public:
  explicit Timely(const RttParameters& parameters = {}) : control_(make_rtt(parameters)) {
    control_->start({.line_rate_bps = kLine}, Time{});
  }
  double after(Duration rtt) {
    control_->on_acknowledged({.now = now_ += rtt, .rtt = rtt});
    return control_->reading(now_).rate_bps;
  }
  Output output() { return control_->output(now_); }
  CongestionControl& control() { return *control_; }

 private:
  std::unique_ptr<CongestionControl> control_;
  Time now_{};
};

TEST(RttControl, ItIsUnlimitedUntilTheDelayGrows) {
  Timely timely;
  EXPECT_EQ(timely.after(20us), 1e10);
  EXPECT_EQ(timely.output().rate_bps, 0U);
  EXPECT_TRUE(timely.output().hears_acknowledged);
  EXPECT_LT(timely.after(600us), 1e10);
  EXPECT_NE(timely.output().rate_bps, 0U);
}

TEST(RttControl, ItFollowsTheStepsOfItsPaper) {
  Timely timely;
  // Above t_high: 1 - beta (1 - t_high / rtt).
  double rate = 1e10 * (1 - 0.8 * (1 - 500.0 / 1000));
  EXPECT_NEAR(timely.after(1000us), rate, 1);
  // Below t_low: one step, whatever the trend is.
  rate += 10e6;
  EXPECT_NEAR(timely.after(40us), rate, 1);
  // Between them, and falling on average: single steps, and after five of them fivefold ones.
  for (int i = 1; i <= 7; ++i) {
    rate += i < 5 ? 10e6 : 50e6;
    EXPECT_NEAR(timely.after(100us), rate, 1) << i;
  }
}

TEST(RttControl, ARisingDelayLowersTheRateByItsGradient) {
  Timely timely;
  (void)timely.after(100us);  // without a difference yet: an increase, at the line
  const double gradient = 0.875 * (110.0 - 100) / 20;
  EXPECT_NEAR(timely.after(110us), 1e10 * (1 - 0.8 * gradient), 1);
}

TEST(RttControl, TheRateStaysInItsLimits) {
  Timely timely{{.min_rate_bps = 2'000'000'000, .max_rate_bps = 4'000'000'000}};
  EXPECT_EQ(timely.output().rate_bps, 4'000'000'000U) << "a limit of its own holds from the start";
  for (int i = 0; i < 50; ++i) (void)timely.after(Duration{100ms});
  EXPECT_EQ(timely.output().rate_bps, 2'000'000'000U);
  for (int i = 0; i < 1000; ++i) (void)timely.after(10us);
  EXPECT_EQ(timely.output().rate_bps, 4'000'000'000U);
}

TEST(RttControl, CnpsAndAcksWithoutASampleChangeNothing) {
  Timely timely;
  (void)timely.after(1000us);
  const double rate = timely.control().reading(Time{1s}).rate_bps;
  timely.control().on_cnp(Time{1s});
  timely.control().on_acknowledged({.now = Time{1s}, .packets = 4});
  EXPECT_EQ(timely.control().reading(Time{1s}).rate_bps, rate);
}

TEST(FixedControl, NothingMovesIt) {
  const auto control = make_control(FixedParameters{.rate_bps = 5'000'000});
  control->start({.line_rate_bps = kLine}, Time{});
  control->on_cnp(Time{1ms});
  EXPECT_EQ(control->output(Time{1s}).rate_bps, 5'000'000U);
  EXPECT_EQ(control->output(Time{1s}).next_change, kNever);
  EXPECT_EQ(make_control(Choice{}), nullptr);
}

}  // namespace
}  // namespace roce::congestion
