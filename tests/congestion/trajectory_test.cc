// SPDX-License-Identifier: BSD-2-Clause
// The limiter of DCQCN alone, against trajectories of an independent model (trajectories/README.md), and its
// properties.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "roce/congestion/dcqcn.h"
#include "roce/congestion/dcqcn_mlx5.h"
#include "support/source_tree.h"

namespace roce::congestion {
namespace {

using namespace std::chrono_literals;

constexpr double kPacket = 1040;  // bytes that a rate counts
constexpr double kWire = 1106;    // bytes of the wire
constexpr std::uint64_t kNoCounter = 0;

std::uint64_t capacity(double line) {
  return static_cast<std::uint64_t>(std::llround(line * kPacket / kWire));
}

struct Row {
  double time_us = 0;
  std::string event;
  double rate_mbps = 0;
  double target_mbps = 0;
  double alpha = 0;
  std::uint64_t time_stage = 0;
  std::uint64_t byte_stage = 0;
};

std::vector<Row> read_rows(const std::string& name) {
  std::ifstream file{test::source_folder() + "/tests/congestion/trajectories/" + name};
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream fields{line};
    Row row;
    fields >> row.time_us >> row.event >> row.rate_mbps >> row.target_mbps >> row.alpha >> row.time_stage >>
        row.byte_stage;
    EXPECT_TRUE(fields) << line;
    rows.push_back(row);
  }
  return rows;
}

/// One flow that always has data, sends as its controller lets it, and gets CNPs at given times.
class Flow {
 public:
  Flow(std::unique_ptr<CongestionControl> control, std::uint64_t line_bps)
      : control_(std::move(control)), line_bps_(line_bps) {
    control_->start({.line_rate_bps = line_bps, .mtu = 1024}, Time{});
    output_ = control_->output(Time{});
  }

  void run(const std::vector<Duration>& cnps, Duration until) {
    std::size_t cnp = 0;
    for (;;) {
      const Time send{Duration{static_cast<std::int64_t>(std::llround(send_ns_))}};
      const Time next = cnp < cnps.size() ? std::min(send, Time{cnps[cnp]}) : send;
      pass_changes(std::min(next, Time{until}));
      if (next > Time{until}) return;
      if (next == send) {
        send_packet(send);
      } else {
        control_->on_cnp(next);
        output_ = control_->output(next);
        log("cnp", next, control_->reading(next).alpha);
        ++cnp;
      }
    }
  }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

 private:
  void pass_changes(Time until) {
    while (output_.next_change <= until) {
      const Time at = output_.next_change;
      const Reading before = control_->reading(at - 1ns);
      output_ = control_->output(at);
      const Reading after = control_->reading(at);
      log(after.time_stage > before.time_stage ? "timer" : "decrease", at, before.alpha);
    }
  }
  void send_packet(Time now) {
    if (output_.hears_sent) {
      const std::uint64_t before = control_->reading(now).byte_stage;
      control_->on_sent({.now = now, .bytes = static_cast<std::uint64_t>(kPacket)});
      output_ = control_->output(now);
      const Reading after = control_->reading(now);
      if (after.byte_stage != before) log("bytes", now, after.alpha);
    }
    const std::uint64_t rate = output_.rate_bps == 0 ? line_bps_ : output_.rate_bps;
    send_ns_ += kPacket * 8e9 / static_cast<double>(rate);
  }
  void log(const std::string& event, Time at, double alpha) {
    const Reading reading = control_->reading(at);
    rows_.push_back({static_cast<double>(at.time_since_epoch().count()) / 1e3, event, reading.rate_bps / 1e6,
                     reading.target_bps / 1e6, alpha, reading.time_stage, reading.byte_stage});
  }

  std::unique_ptr<CongestionControl> control_;
  std::uint64_t line_bps_;
  Output output_;
  double send_ns_ = 0;
  std::vector<Row> rows_;
};

void expect_equal(const std::vector<Row>& found, const std::vector<Row>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_GT(found.size(), 40U);
  constexpr double time_us = 0.1;
  constexpr double part = 1e-6;
  constexpr double alpha = 6e-7;  // the files have six digits
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE("row " + std::to_string(i) + " at " + std::to_string(expected[i].time_us) + " us");
    EXPECT_NEAR(found[i].time_us, expected[i].time_us, time_us);
    EXPECT_EQ(found[i].event, expected[i].event);
    EXPECT_NEAR(found[i].rate_mbps, expected[i].rate_mbps, part * expected[i].rate_mbps);
    EXPECT_NEAR(found[i].target_mbps, expected[i].target_mbps, part * expected[i].target_mbps);
    EXPECT_NEAR(found[i].alpha, expected[i].alpha, alpha);
    EXPECT_EQ(found[i].time_stage, expected[i].time_stage);
    EXPECT_EQ(found[i].byte_stage, expected[i].byte_stage);
    if (testing::Test::HasFailure()) return;
  }
}

std::vector<Duration> train(Duration first, Duration second, int count, Duration apart) {
  std::vector<Duration> cnps{first};
  for (int i = 0; i < count; ++i) cnps.push_back(second + i * apart);
  return cnps;
}

TEST(Trajectory, ThePaperIsFollowedToRounding) {
  Flow flow{make_dcqcn({}), capacity(40e9)};
  flow.run(train(1ms, 2ms, 10, 50us), 8ms);
  expect_equal(flow.rows(), read_rows("paper.csv"));
}

TEST(Trajectory, TheByteCounterIsFollowedToRounding) {
  Flow flow{make_dcqcn({.rate_timer = 1500us, .byte_counter = 150'000}), capacity(40e9)};
  flow.run(train(1ms, 2ms, 10, 50us), 6ms);
  expect_equal(flow.rows(), read_rows("paper_bytes.csv"));
}

TEST(Trajectory, ConnectXIsFollowedToRounding) {
  Flow flow{make_dcqcn_mlx5({}), capacity(100e9)};
  flow.run(train(1ms + 100ns, 2ms + 100ns, 20, 10us), 20ms);
  expect_equal(flow.rows(), read_rows("mlx5.csv"));
}

TEST(Dcqcn, WithoutAMarkNothingIsLimitedNorHeard) {
  for (const bool mlx5 : {false, true}) {
    const auto control = mlx5 ? make_dcqcn_mlx5({}) : make_dcqcn({});
    control->start({.line_rate_bps = 1'000'000'000}, Time{});
    const Output output = control->output(Time{1s});
    EXPECT_EQ(output.rate_bps, 0U);
    EXPECT_EQ(output.next_change, kNever);
    EXPECT_FALSE(output.hears_sent || output.hears_acknowledged || output.hears_losses);
    EXPECT_FALSE(control->reading(Time{1s}).limited);
  }
}

TEST(Dcqcn, CnpsInARowMultiplyTheRate) {
  const auto control = make_dcqcn({.min_rate_bps = 1'000'000});
  control->start({.line_rate_bps = 40'000'000'000}, Time{});
  double rate = 40e9;
  double alpha = 1;
  for (int i = 0; i < 8; ++i) {
    control->on_cnp(Time{i * 50us});
    rate *= 1 - alpha / 2;
    alpha = (1 - 1.0 / 256) * alpha + 1.0 / 256;
    EXPECT_NEAR(control->reading(Time{i * 50us}).rate_bps, rate, 1);
  }
}

TEST(Dcqcn, TheCurveScalesWithTheLine) {
  // All rates ten times as high, all times a tenth: the same bytes lead to the same steps.
  Flow slow{make_dcqcn({.alpha_timer = 550us, .rate_timer = 550us, .byte_counter = 1'000'000}), capacity(40e9)};
  Flow fast{make_dcqcn({.alpha_timer = 55us,
                        .rate_timer = 55us,
                        .byte_counter = 1'000'000,
                        .ai_bps = 400'000'000,
                        .hai_bps = 4'000'000'000,
                        .min_rate_bps = 400'000'000}),
            capacity(400e9)};
  slow.run(train(1ms, 2ms, 3, 500us), 20ms);
  fast.run(train(100us, 200us, 3, 50us), 2ms);
  ASSERT_EQ(slow.rows().size(), fast.rows().size());
  ASSERT_GT(slow.rows().size(), 50U);
  for (std::size_t i = 0; i < slow.rows().size(); ++i) {
    EXPECT_NEAR(slow.rows()[i].time_us, 10 * fast.rows()[i].time_us, 0.2);
    EXPECT_NEAR(10 * slow.rows()[i].rate_mbps, fast.rows()[i].rate_mbps, 1e-6 * fast.rows()[i].rate_mbps);
    EXPECT_EQ(slow.rows()[i].event, fast.rows()[i].event);
  }
}

TEST(Dcqcn, TheAuthorsReadingsAreParameters) {
  const auto after_two_cnps = [](const DcqcnParameters& parameters) {
    const auto control = make_dcqcn(parameters);
    control->start({.line_rate_bps = 40'000'000'000}, Time{});
    control->on_cnp(Time{});
    control->on_cnp(Time{1ms});
    return control->reading(Time{1ms}).rate_bps;
  };
  const double usual = after_two_cnps({});
  EXPECT_LT(after_two_cnps({.alpha_before_cut = true}), usual) << "alpha is larger when it cuts";
  EXPECT_GT(after_two_cnps({.recovers_after_cut = true}), usual);

  const auto target_at = [](const DcqcnParameters& parameters, std::uint64_t bytes) {
    const auto control = make_dcqcn(parameters);
    control->start({.line_rate_bps = 40'000'000'000}, Time{});
    for (int i = 0; i < 4; ++i) control->on_cnp(Time{});
    for (int i = 1; i <= 8; ++i) {
      control->on_sent({.now = Time{i * 55us}, .bytes = bytes});
      (void)control->output(Time{i * 55us});
    }
    return control->reading(Time{8 * 55us}).target_bps;
  };
  constexpr std::uint64_t budget = 1'000'000;
  const double hyper = target_at({.byte_counter = budget}, budget);
  EXPECT_GT(hyper, target_at({.byte_counter = kNoCounter, .hai_bps = 40'000'000}, budget));
  EXPECT_GT(target_at({.byte_counter = budget, .hyper_from_next = true}, budget), hyper);
  EXPECT_GT(target_at({.byte_counter = budget, .hyper_halves_bytes = true}, budget), hyper);
}

TEST(Dcqcn, SilenceOfADayEndsAtTheLine) {
  for (const bool mlx5 : {false, true}) {
    const auto control = mlx5 ? make_dcqcn_mlx5({}) : make_dcqcn({});
    control->start({.line_rate_bps = 10'000'000'000}, Time{});
    for (int i = 0; i < 50; ++i) control->on_cnp(Time{i * 50us});
    const Time day{24h};
    EXPECT_EQ(control->output(day).rate_bps, 10'000'000'000U);
    EXPECT_GT(control->output(day).next_change, day);
    EXPECT_LT(control->reading(day).alpha, 1e-9);
  }
}

TEST(DcqcnMlx5, ItsOwnParametersAct) {
  const auto rate_after = [](const Mlx5Parameters& parameters, Duration when) {
    const auto control = make_dcqcn_mlx5(parameters);
    control->start({.line_rate_bps = 100'000'000'000}, Time{});
    control->on_cnp(Time{});
    control->on_cnp(Time{1us});
    return control->reading(Time{when}).rate_bps;
  };
  EXPECT_EQ(rate_after({}, 4us), 100e9) << "cuts are at the end of a period";
  const double once = rate_after({}, 5us);
  EXPECT_GT(once, 50e9) << "two CNPs cut once, and at most by half";
  EXPECT_EQ(rate_after({}, 200us), once);
  EXPECT_EQ(rate_after({.rpg_min_dec_fac = 90}, 5us), 90e9);
  EXPECT_EQ(rate_after({.rpg_min_dec_fac = 100}, 5us), 100e9);
  EXPECT_NEAR(rate_after({.rpg_gd = 12}, 5us), 100e9 - (100e9 - once) / 2, 1);
  EXPECT_EQ(rate_after({.rate_to_set_on_first_cnp = 2000}, 1us), 2e9);
  EXPECT_LT(rate_after({.rate_reduce_monitor_period = 0}, 1us), once) << "each cuts";
  EXPECT_EQ(rate_after({.rpg_max_rate = 1000}, 1us), 1e9);
}

TEST(DcqcnMlx5, ClampingDecidesAboutTheTarget) {
  const auto target_after = [](const Mlx5Parameters& parameters, Duration second) {
    const auto control = make_dcqcn_mlx5(parameters);
    control->start({.line_rate_bps = 100'000'000'000}, Time{});
    control->on_cnp(Time{});
    control->on_cnp(Time{second});
    return control->reading(Time{second + 10us}).target_bps;
  };
  EXPECT_EQ(target_after({}, 20us), 100e9) << "a burst of CNPs leaves the target";
  EXPECT_LT(target_after({}, 400us), 100e9) << "time has raised the rate";
  EXPECT_LT(target_after({.clamp_tgt_rate = true}, 20us), 100e9);
  EXPECT_EQ(target_after({.clamp_tgt_rate_after_time_inc = false}, 400us), 100e9);
}

}  // namespace
}  // namespace roce::congestion
