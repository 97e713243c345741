// SPDX-License-Identifier: BSD-2-Clause
// What RateFit finds of a sender, beside the parameters of the controller that limited it.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "roce/analysis/rate_fit.h"
#include "roce/congestion/dcqcn.h"

namespace roce::analysis {
namespace {

constexpr std::uint32_t kPacket = 1040;
constexpr std::uint64_t kLine = 100'000'000'000;

/// A cut as the controller made it.
struct TrueCut {
  Time cnp;
  double left = 0;
};

/// Sends for `length`, each packet when the controller lets it, with CNPs at these times.
std::vector<TrueCut> send(congestion::CongestionControl& control, const std::vector<Time>& cnps, Duration length,
                          RateFit& fit) {
  std::vector<TrueCut> cuts;
  control.start({kLine, 1024}, Time{});
  auto cnp = cnps.begin();
  double next_ns = 0;
  while (next_ns < static_cast<double>(length.count())) {
    const Time now{Duration{static_cast<std::int64_t>(next_ns)}};
    for (; cnp != cnps.end() && *cnp <= now; ++cnp) {
      const double before = control.reading(*cnp).rate_bps;
      control.on_cnp(*cnp);
      cuts.push_back({*cnp, control.reading(*cnp).rate_bps / before});
      fit.on_cnp(*cnp);
    }
    fit.add(now, kPacket);
    control.on_sent({now, kPacket});
    const std::uint64_t rate = control.output(now).rate_bps;
    next_ns += kPacket * 8e9 / static_cast<double>(rate == 0 ? kLine : rate);
  }
  return cuts;
}

Time at(std::int64_t microseconds_after) {
  return Time{std::chrono::microseconds{microseconds_after}};
}

struct Limits {
  double g = 1.0 / 256;
  std::int64_t timer_us = 55;
};

class RateFitOfDcqcn : public ::testing::TestWithParam<Limits> {};

TEST_P(RateFitOfDcqcn, FindsCutsAndTheTimer) {
  congestion::DcqcnParameters parameters;
  parameters.g = GetParam().g;
  parameters.rate_timer = std::chrono::microseconds{GetParam().timer_us};
  parameters.alpha_timer = std::chrono::microseconds{GetParam().timer_us};
  const auto control = congestion::make_dcqcn(parameters);
  // So many decays in between that each cut is another part of the rate.
  std::vector<Time> cnps;
  for (std::int64_t i = 0; i < 6; ++i) cnps.push_back(at(100 + i * 22 * GetParam().timer_us));
  RateFit fit;
  const std::vector<TrueCut> truth = send(*control, cnps, Duration{140 * GetParam().timer_us * 1000}, fit);

  ASSERT_EQ(truth.size(), cnps.size());
  EXPECT_NEAR(truth[0].left, 0.5, 0.001);
  ASSERT_EQ(fit.cuts().size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_EQ(fit.cuts()[i].cnp, truth[i].cnp);
    EXPECT_NEAR(fit.cuts()[i].left, truth[i].left, 0.02);
    EXPECT_LT(fit.cuts()[i].late, Duration{2'000});
  }
  std::vector<std::int64_t> since;
  for (const RateRise& rise : fit.rises()) since.push_back(rise.since.count());
  ASSERT_GE(since.size(), 6U);
  std::ranges::nth_element(since, since.begin() + std::ssize(since) / 2);
  EXPECT_NEAR(static_cast<double>(since[since.size() / 2]), static_cast<double>(GetParam().timer_us * 1000), 1500);
  EXPECT_EQ(fit.cnps_without_cut(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, RateFitOfDcqcn,
                         ::testing::Values(Limits{}, Limits{1.0 / 64, 55}, Limits{1.0 / 256, 150},
                                           Limits{1.0 / 128, 300}),
                         [](const auto& each) {
                           return "timer_" + std::to_string(each.param.timer_us) + "_g_" +
                                  std::to_string(std::lround(1 / each.param.g));
                         });

}  // namespace
}  // namespace roce::analysis
