// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/rate_fit.h"

#include <gmock/gmock.h>

#include <random>

namespace roce::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kFrame = 1000;

/// A sender whose packets are as far apart as its rate says.
class Sender {
 public:
  explicit Sender(double jitter = 0) : jitter_(-jitter, jitter) {}

  void rate(double gbits_per_second) { gap_ns_ = kFrame * 8 / gbits_per_second; }
  void send_for(double us) {
    const double end = now_ns_ + us * 1000;
    while (now_ns_ < end) {
      fit.add(Time{Duration{static_cast<std::int64_t>(now_ns_)}}, kFrame);
      now_ns_ += gap_ns_ * (1 + jitter_(random_));
    }
  }
  void pause_for(double us) { now_ns_ += us * 1000; }
  void cnp() { fit.on_cnp(now()); }
  [[nodiscard]] Time now() const { return Time{Duration{static_cast<std::int64_t>(now_ns_)}}; }

  RateFit fit;

 private:
  double now_ns_ = 1e9;
  double gap_ns_ = 1000;
  std::mt19937 random_{1};
  std::uniform_real_distribution<double> jitter_;
};

TEST(RateFit, OfASteadySenderHasOneStep) {
  Sender sender;
  sender.rate(10);
  sender.send_for(500);
  EXPECT_EQ(sender.fit.last_step(), std::nullopt) << "nobody asks about one without a CNP";
  sender.cnp();
  sender.send_for(500);
  EXPECT_THAT(sender.fit.steps(), IsEmpty());
  ASSERT_TRUE(sender.fit.last_step());
  EXPECT_NEAR(sender.fit.last_step()->bits_per_second, 10e9, 10e6);
  EXPECT_THAT(sender.fit.cuts(), IsEmpty());
  EXPECT_EQ(sender.fit.cnps(), 1U);
}

TEST(RateFit, MeasuresCutsAndRises) {
  Sender sender;
  sender.rate(20);
  sender.send_for(200);
  sender.cnp();
  const Time cnp = sender.now();
  sender.send_for(7);
  const Time cut = sender.now();
  sender.rate(10);
  sender.send_for(55);
  sender.rate(15);
  sender.send_for(55);
  sender.rate(17.5);
  sender.send_for(55);

  ASSERT_THAT(sender.fit.cuts(), SizeIs(1));
  EXPECT_EQ(sender.fit.cuts()[0].cnp, cnp);
  EXPECT_NEAR(static_cast<double>(sender.fit.cuts()[0].late.count()), 7000, 800);
  EXPECT_NEAR(sender.fit.cuts()[0].left, 0.5, 0.02);
  ASSERT_THAT(sender.fit.rises(), SizeIs(2));
  EXPECT_NEAR(static_cast<double>(sender.fit.rises()[0].since.count()), 55e3, 1500);
  EXPECT_NEAR(sender.fit.rises()[0].bits_per_second, 5e9, 0.2e9);
  EXPECT_NEAR(static_cast<double>(sender.fit.rises()[1].since.count()), 55e3, 1500);
  EXPECT_NEAR(sender.fit.rises()[1].bits_per_second, 2.5e9, 0.2e9);
  ASSERT_THAT(sender.fit.steps(), SizeIs(3));
  EXPECT_NEAR(sender.fit.steps()[0].bits_per_second, 20e9, 0.1e9);
  EXPECT_NEAR(static_cast<double>((sender.fit.steps()[1].begin - cut).count()), 0, 1000);
  EXPECT_NEAR(sender.fit.steps()[1].bits_per_second, 10e9, 0.1e9);
  EXPECT_NEAR(sender.fit.steps()[2].bits_per_second, 15e9, 0.2e9);
  EXPECT_EQ(sender.fit.cnps_without_cut(), 0U);
}

TEST(RateFit, TakesTheCnpBeforeACutForItsCause) {
  Sender sender;
  sender.rate(10);
  sender.send_for(100);
  sender.cnp();
  const Time cause = sender.now();
  sender.send_for(2);
  sender.rate(5);
  // The cut is not clear yet when the next one comes.
  sender.send_for(10);
  sender.cnp();
  sender.send_for(100);
  ASSERT_THAT(sender.fit.cuts(), SizeIs(1));
  EXPECT_EQ(sender.fit.cuts()[0].cnp, cause);
}

TEST(RateFit, CountsCnpsThatChangeNothing) {
  Sender sender;
  sender.rate(10);
  for (int i = 0; i < 5; ++i) {
    sender.send_for(200);
    sender.cnp();
  }
  sender.send_for(1200);
  EXPECT_EQ(sender.fit.cnps_without_cut(), 5U);
  EXPECT_THAT(sender.fit.cuts(), IsEmpty());
}

TEST(RateFit, TakesNoCutWithoutACnpForItsAnswer) {
  Sender sender;
  sender.rate(10);
  sender.send_for(100);
  sender.cnp();
  sender.send_for(1500);
  sender.rate(5);
  sender.send_for(100);
  EXPECT_THAT(sender.fit.cuts(), IsEmpty());
  EXPECT_THAT(sender.fit.steps(), SizeIs(1));
}

TEST(RateFit, TakesNoRiseAfterACnpForRecovery) {
  Sender sender;
  sender.rate(10);
  sender.send_for(100);
  sender.cnp();
  sender.send_for(2);
  sender.rate(5);
  sender.send_for(100);
  sender.cnp();
  sender.send_for(2);
  sender.rate(8);
  sender.send_for(100);
  EXPECT_THAT(sender.fit.cuts(), SizeIs(1));
  EXPECT_THAT(sender.fit.rises(), IsEmpty());
}

TEST(RateFit, IsNotMisledByJitter) {
  Sender sender{0.4};
  sender.rate(10);
  sender.send_for(300);
  sender.cnp();
  sender.send_for(3);
  sender.rate(4);
  sender.send_for(2000);
  ASSERT_THAT(sender.fit.cuts(), SizeIs(1));
  EXPECT_NEAR(sender.fit.cuts()[0].left, 0.4, 0.15);
  EXPECT_THAT(sender.fit.steps(), SizeIs(1));
  EXPECT_NEAR(sender.fit.last_step()->bits_per_second, 4e9, 0.2e9);
}

TEST(RateFit, SeesNoRateInBursts) {
  Sender sender;
  sender.rate(1);
  sender.cnp();
  // Sixteen packets at the rate of the line, and then the time that the limit takes.
  for (int burst = 0; burst < 200; ++burst) {
    sender.rate(100);
    sender.send_for(16 * 0.08);
    sender.pause_for(14.4);
  }
  EXPECT_THAT(sender.fit.rises(), IsEmpty());
  EXPECT_THAT(sender.fit.cuts(), IsEmpty());
}

TEST(RateFit, FollowsChangesThatAreTooSmallAlone) {
  Sender sender;
  sender.rate(10);
  sender.send_for(50);
  sender.cnp();
  for (double rate = 10; rate < 20; rate *= 1.01) {
    sender.rate(rate);
    sender.send_for(20);
  }
  EXPECT_THAT(sender.fit.rises(), IsEmpty());
  EXPECT_THAT(sender.fit.steps(), SizeIs(::testing::AllOf(::testing::Ge(5U), ::testing::Le(12U))));
  EXPECT_NEAR(sender.fit.last_step()->bits_per_second, 19.5e9, 1e9);
}

TEST(RateFit, GoesOnWithWhatWasTakenForAnother) {
  for (const bool has_packets : {false, true}) {
    SCOPED_TRACE(has_packets);
    Sender sender;
    RateFit other;
    sender.rate(10);
    sender.send_for(55);
    other.on_cnp(Time{Duration{1'000'050'000}});
    if (has_packets) std::swap(sender.fit, other);
    sender.fit.absorb(std::move(other));
    sender.rate(5);
    sender.send_for(50);
    EXPECT_EQ(sender.fit.cnps(), 1U);
    EXPECT_THAT(sender.fit.cuts(), SizeIs(1));
  }
}

TEST(RateFit, TakesACnpThatComesToLightAfterItsCut) {
  Sender sender;
  sender.rate(10);
  sender.send_for(50);
  sender.rate(5);
  sender.send_for(50);
  RateFit other;
  other.on_cnp(Time{Duration{1'000'049'000}});
  sender.fit.absorb(std::move(other));
  EXPECT_THAT(sender.fit.steps(), SizeIs(1));
  ASSERT_THAT(sender.fit.cuts(), SizeIs(1));
  EXPECT_NEAR(sender.fit.cuts()[0].left, 0.5, 0.01);
}

TEST(RateFit, OfAnIdleSenderIsNothing) {
  Sender sender;
  sender.rate(10);
  sender.cnp();
  sender.send_for(100);
  sender.pause_for(5000);
  sender.rate(5);
  sender.send_for(100);
  ASSERT_THAT(sender.fit.steps(), SizeIs(2));
  EXPECT_NEAR(sender.fit.steps()[0].bits_per_second, 10e9, 0.1e9);
  EXPECT_EQ(sender.fit.steps()[1].bits_per_second, 0);
  EXPECT_THAT(sender.fit.cuts(), IsEmpty());
  EXPECT_NEAR(sender.fit.last_step()->bits_per_second, 5e9, 0.1e9);
}

TEST(RateFit, IsBounded) {
  Sender sender;
  for (int i = 0; i < 1000; ++i) {
    sender.rate(10);
    sender.send_for(50);
    sender.cnp();
    sender.rate(5);
    sender.send_for(50);
    sender.rate(7);
    sender.send_for(50);
  }
  EXPECT_THAT(sender.fit.steps(), SizeIs(RateFit::kMostSteps));
  EXPECT_THAT(sender.fit.cuts(), SizeIs(RateFit::kMostCuts));
  EXPECT_THAT(sender.fit.rises(), SizeIs(RateFit::kMostCuts));
  EXPECT_EQ(sender.fit.cnps(), 1000U);
}

TEST(RateFit, PassesOverPacketsThatGoBackInTime) {
  RateFit fit;
  fit.on_cnp(Time{});
  fit.add(Time{Duration{5'000'000}}, kFrame);
  fit.add(Time{Duration{1'000'000}}, kFrame);
  for (int i = 1; i < 100; ++i) fit.add(Time{Duration{5'000'000 + i * 800}}, kFrame);
  ASSERT_TRUE(fit.last_step());
  EXPECT_NEAR(fit.last_step()->bits_per_second, 10e9, 0.1e9);
}

}  // namespace
}  // namespace roce::analysis
