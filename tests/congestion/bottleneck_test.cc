// SPDX-License-Identifier: BSD-2-Clause
// Real devices under DCQCN at one congested port, in virtual time, beside the figures of an independent model.
#include "congestion/bottleneck.h"

#include <gtest/gtest.h>

namespace roce::sim {
namespace {

using namespace std::chrono_literals;

/// The least and the most that the model showed for five seeds, in the second half of 100 ms.
struct Band {
  double utilisation = 0;
  double jain = 0;
  double queue_least = 0, queue_most = 0;
  double marked_least = 0, marked_most = 0;
  double cnps_least = 0, cnps_most = 0;
  double alpha_least = 0, alpha_most = 0;
};

void expect_within(const Bottleneck::Figures& found, const Band& band) {
  EXPECT_GE(found.utilisation, band.utilisation - 0.01);
  EXPECT_LE(found.utilisation, 1.001);
  EXPECT_GE(found.jain, band.jain - 0.02);
  EXPECT_GE(found.queue_mean, 0.75 * band.queue_least);
  EXPECT_LE(found.queue_mean, 1.25 * band.queue_most);
  EXPECT_GE(found.marked, 0.75 * band.marked_least);
  EXPECT_LE(found.marked, 1.25 * band.marked_most);
  EXPECT_GE(found.cnps, 0.9 * band.cnps_least);
  EXPECT_LE(found.cnps, 1.1 * band.cnps_most);
  EXPECT_GE(found.alpha, 0.9 * band.alpha_least);
  EXPECT_LE(found.alpha, 1.1 * band.alpha_most);
  testing::Test::RecordProperty("utilisation", std::to_string(found.utilisation));
  testing::Test::RecordProperty("jain", std::to_string(found.jain));
  testing::Test::RecordProperty("queue", std::to_string(found.queue_mean));
  testing::Test::RecordProperty("marked", std::to_string(found.marked));
  testing::Test::RecordProperty("cnps", std::to_string(found.cnps));
  testing::Test::RecordProperty("alpha", std::to_string(found.alpha));
}

/// With one seed after the other.
class Bottlenecks : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// Expects these figures of the second half of a run.
  static void expect_in_second_half(Bottleneck::Options options, const Band& band, Duration whole = 100ms) {
    options.seed = GetParam();
    Bottleneck bottleneck{options};
    bottleneck.run_until(Time{whole / 2});
    expect_within(bottleneck.measure_until(Time{whole}), band);
  }
};

TEST_P(Bottlenecks, TwoFlowsShareAPortAsInTheModel) {
  expect_in_second_half({}, {.utilisation = 0.998,
                             .jain = 0.993,
                             .queue_least = 28.0e3,
                             .queue_most = 31.0e3,
                             .marked_least = 0.00114,
                             .marked_most = 0.00120,
                             .cnps_least = 2060,
                             .cnps_most = 2180,
                             .alpha_least = 0.1096,
                             .alpha_most = 0.1139});
}

TEST_P(Bottlenecks, EightFlowsShareAPortAsInTheModel) {
  expect_in_second_half({.senders = 8}, {.utilisation = 1,
                                         .jain = 0.996,
                                         .queue_least = 123e3,
                                         .queue_most = 132e3,
                                         .marked_least = 0.0077,
                                         .marked_most = 0.00995,
                                         .cnps_least = 3078,
                                         .cnps_most = 3128,
                                         .alpha_least = 0.1587,
                                         .alpha_most = 0.1602});
}

TEST_P(Bottlenecks, TwentyFlowsHoldTheQueueAtKmax) {
  expect_in_second_half({.senders = 20}, {.utilisation = 1,
                                          .jain = 0.994,
                                          .queue_least = 191e3,
                                          .queue_most = 192e3,
                                          .marked_least = 0.0278,
                                          .marked_most = 0.0288,
                                          .cnps_least = 3708,
                                          .cnps_most = 3743,
                                          .alpha_least = 0.188,
                                          .alpha_most = 0.189});
}

TEST_P(Bottlenecks, FewLostCnpsChangeLittle) {
  expect_in_second_half({.cnp_loss = 0.1}, {.utilisation = 0.995,
                                            .jain = 0.993,
                                            .queue_least = 30.3e3,
                                            .queue_most = 33.8e3,
                                            .marked_least = 0.00128,
                                            .marked_most = 0.00136,
                                            .cnps_least = 2060,
                                            .cnps_most = 2150,
                                            .alpha_least = 0.108,
                                            .alpha_most = 0.115});
}

TEST_P(Bottlenecks, LostCnpsDoubleTheQueueAndStarveNobody) {
  expect_in_second_half({.cnp_loss = 0.5}, {.utilisation = 0.995,
                                            .jain = 0.996,
                                            .queue_least = 55.9e3,
                                            .queue_most = 65.6e3,
                                            .marked_least = 0.00248,
                                            .marked_most = 0.0123,
                                            .cnps_least = 1950,
                                            .cnps_most = 2070,
                                            .alpha_least = 0.108,
                                            .alpha_most = 0.111});
}

TEST_P(Bottlenecks, ALateJoinerGetsItsShare) {
  expect_in_second_half({.last_joins = 40ms},
                        {.utilisation = 0.997,
                         .jain = 0.995,
                         .queue_least = 26.4e3,
                         .queue_most = 28.9e3,
                         .marked_least = 0.00105,
                         .marked_most = 0.00112,
                         .cnps_least = 1986,
                         .cnps_most = 2071,
                         .alpha_least = 0.117,
                         .alpha_most = 0.121},
                        140ms);
}

TEST_P(Bottlenecks, WhoIsLeftAloneRecovers) {
  Bottleneck bottleneck{{.seed = GetParam(), .last_leaves = 50ms}};
  bottleneck.run_until(Time{50ms});
  const double line = 40e9 * 1040 / 1106;
  Time time{50ms};
  while (bottleneck.reading(0).rate_bps < 0.95 * line && time < Time{100ms}) bottleneck.run_until(time += 50us);
  // 17.8 to 19.6 ms in the model.
  EXPECT_GE(time, Time{50ms + 8900us});
  EXPECT_LE(time, Time{50ms + 29400us});
}

TEST_P(Bottlenecks, TwoConnectXShareAPortAsInTheModel) {
  expect_in_second_half({.line_bps = 100e9,
                         .control = congestion::Mlx5Parameters{},
                         .cnp_interval = 4us,
                         .kmin = 400e3,
                         .kmax = 1600e3,
                         .pmax = 0.2},
                        {.utilisation = 1,
                         .jain = 0.999,
                         .queue_least = 307e3,
                         .queue_most = 358e3,
                         .marked_least = 0.000609,
                         .marked_most = 0.000846,
                         .cnps_least = 3240,
                         .cnps_most = 4280,
                         .alpha_least = 0.00324,
                         .alpha_most = 0.00429});
}

INSTANTIATE_TEST_SUITE_P(Seeds, Bottlenecks, testing::Values(1U, 2U, 3U, 4U, 5U));

TEST(Bottleneck, OneFlowIsNeverLimited) {
  Bottleneck bottleneck{{.senders = 1}};
  const Bottleneck::Figures figures = bottleneck.measure_until(Time{5ms});
  EXPECT_GT(figures.utilisation, 0.998);
  EXPECT_EQ(figures.marked, 0);
  EXPECT_EQ(bottleneck.counters(0).cnps_handled, 0U);
  EXPECT_FALSE(bottleneck.reading(0).limited);
}

TEST(Bottleneck, WithoutAControlTheQueueOnlyGrows) {
  Bottleneck bottleneck{{.control = congestion::FixedParameters{.rate_bps = 30'000'000'000}}};
  const Bottleneck::Figures figures = bottleneck.measure_until(Time{5ms});
  EXPECT_GT(figures.queue_mean, 1e6) << "two flows of 30 Gbit/s into 40";
}

}  // namespace
}  // namespace roce::sim
