// SPDX-License-Identifier: BSD-2-Clause
// The limiters, which catch up when they are asked, against simple ones that do each event at its time.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "roce/congestion/dcqcn.h"
#include "roce/congestion/dcqcn_mlx5.h"

namespace roce::congestion {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kUs = 1000;
constexpr std::uint64_t kLine = 25'000'000'000;

/// Both limiters in one: what they have in common is the recovery.
struct Simple {
  bool mlx5 = false;
  double rate = kLine;
  double target = kLine;
  double alpha = 0;
  bool limited = false;
  bool cnp_since_alpha = false;
  bool cnp_since_cut = false;
  int time_stage = 0;
  int byte_stage = 0;
  std::int64_t bytes_left = 0;
  std::int64_t next_alpha = -1;
  std::int64_t next_rate = -1;
  std::int64_t next_cut = -1;

  [[nodiscard]] double g() const { return mlx5 ? 5.0 / 1024 : 1.0 / 256; }

  void increase() {
    const int f = mlx5 ? 1 : 5;
    const int high = std::max(time_stage, byte_stage);
    const int low = mlx5 ? time_stage - 1 : std::min(time_stage, byte_stage);
    if (high > f) target += mlx5 ? (low > f ? 50e6 : 5e6) : low > f ? 400e6 * (low - f) : 40e6;
    target = std::min<double>(target, kLine);
    rate = (rate + target) / 2;
  }
  void cut(std::int64_t now, double share) {
    if (!mlx5 || time_stage > 0) target = rate;
    rate = std::max(rate * share, mlx5 ? 1e6 : 40e6);
    time_stage = byte_stage = 0;
    bytes_left = 200'000;
    next_rate = now + (mlx5 ? 300 : 55) * kUs;
  }
  void cnp(std::int64_t now) {
    const bool first = !limited;
    limited = true;
    if (first) alpha = mlx5 ? 1023.0 / 1024 : 1;
    if (!mlx5) {
      cut(now, 1 - alpha / 2);
      alpha += g() * (1 - alpha);
      next_alpha = now + 55 * kUs;
      return;
    }
    cnp_since_cut = true;
    if (!first) cnp_since_alpha = true;
    if (!first) return;
    next_alpha = now + kUs;
    next_cut = now + 4 * kUs + 1;
  }
  void sent(std::int64_t bytes) {
    if (!limited || mlx5) return;
    for (bytes_left -= bytes; bytes_left <= 0; bytes_left += 200'000) {
      ++byte_stage;
      increase();
    }
  }
  /// Does what is due by `now`, one event after the other.
  void pass(std::int64_t now) {
    while (limited) {
      std::int64_t next = std::min(next_alpha, next_rate < 0 ? next_alpha : next_rate);
      if (mlx5) next = std::min(next, next_cut);
      if (next > now) return;
      if (next == next_alpha) {
        alpha = (1 - g()) * alpha + (cnp_since_alpha ? g() : 0);
        cnp_since_alpha = false;
        next_alpha += (mlx5 ? 1 : 55) * kUs;
      } else if (next == next_rate) {
        ++time_stage;
        increase();
        next_rate += (mlx5 ? 300 : 55) * kUs;
      } else {
        if (cnp_since_cut) cut(next, std::max(0.5, 1 - alpha / 2));
        cnp_since_cut = false;
        next_cut += 4 * kUs;
      }
    }
  }
};

TEST(RandomCnps, CatchingUpIsAsGoodAsDoingEachThingAtItsTime) {
  constexpr std::uint64_t seeds = 1000;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random{seed};
    const bool mlx5 = seed % 2 == 0;
    const auto control = mlx5 ? make_dcqcn_mlx5({}) : make_dcqcn({.byte_counter = 200'000});
    control->start({.line_rate_bps = kLine}, Time{});
    Simple simple{.mlx5 = mlx5};
    std::int64_t now = 0;
    for (int event = 0; event < 40; ++event) {
      // Mostly close together, sometimes far apart.
      now += static_cast<std::int64_t>(random() % (event % 5 == 0 ? 3'000'000 : 60'000));
      const Time time{Duration{now}};
      simple.pass(now);
      if (random() % 2 == 0) {
        simple.cnp(now);
        control->on_cnp(time);
      } else {
        const std::uint64_t bytes = random() % 300'000;
        simple.sent(static_cast<std::int64_t>(bytes));
        control->on_sent({.now = time, .bytes = bytes});
      }
      const Output output = control->output(time);
      const Reading reading = control->reading(time);
      ASSERT_NEAR(reading.rate_bps, simple.rate, 1e-6 * simple.rate) << "seed " << seed << ", " << now << " ns";
      ASSERT_NEAR(reading.target_bps, simple.target, 1e-6 * simple.target) << "seed " << seed;
      ASSERT_NEAR(reading.alpha, simple.alpha, 1e-9) << "seed " << seed;
      ASSERT_GT(output.next_change, time);
      // RC ≤ RT ≤ line after an increase, and RC at least the minimum.
      ASSERT_LE(reading.target_bps, kLine);
      ASSERT_LE(reading.rate_bps, reading.target_bps + 1);
      ASSERT_GE(reading.rate_bps, mlx5 ? 1e6 : 40e6);
    }
  }
}

}  // namespace
}  // namespace roce::congestion
