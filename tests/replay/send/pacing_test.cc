// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/pacing.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace roce::replay {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

TEST(Pacing, OriginalTimesAreTheCapturedOnes) {
  Pacing pacing{Pace{}};
  for (const std::int64_t time : {0, 1, 999, 1000, 1'000'000'007}) {
    EXPECT_EQ(pacing.next(Duration{time}, 100), Duration{time});
  }
}

TEST(Pacing, AFactorDividesTheTimes) {
  Pacing faster{Pace{.speed = 4}};
  EXPECT_EQ(faster.next(Duration{4000}, 100), Duration{1000});
  Pacing slower{Pace{.speed = 0.5}};
  EXPECT_EQ(slower.next(Duration{4000}, 100), Duration{8000});
}

TEST(Pacing, AFrameThatWasCapturedBeforeTheOneInFrontOfItGoesWithThat) {
  Pacing pacing{Pace{}};
  EXPECT_EQ(pacing.next(Duration{500}, 100), Duration{500});
  EXPECT_EQ(pacing.next(Duration{200}, 100), Duration{500});
  EXPECT_EQ(pacing.next(Duration{600}, 100), Duration{600});
}

TEST(Pacing, ALongWaitDoesNotOverflow) {
  Pacing pacing{Pace{.speed = 1e-6}};
  const Duration first = pacing.next(hours{24 * 365}, 100);
  EXPECT_GT(first, hours{24 * 365});
  EXPECT_GE(pacing.next(hours{24 * 365 * 10}, 100), first);
}

// A third of a second is not a whole number of nanoseconds: the remainders must not be lost.
TEST(Pacing, FramesASecondAreExactHoweverMany) {
  Pacing pacing{Pace{.kind = Pace::Kind::packets, .per_second = 3}};
  for (std::int64_t number = 0; number < 3'000'000; ++number) {
    const Duration due = pacing.next(Duration{0}, 100);
    if (number % 3 == 0) {
      ASSERT_EQ(due, Duration{number / 3 * 1'000'000'000});
    }
  }
}

TEST(Pacing, BitsASecondAreExactForFramesOfAllLengths) {
  constexpr std::uint64_t rate = 7'777'777'777;
  Pacing pacing{Pace{.kind = Pace::Kind::bits, .per_second = rate}};
  std::mt19937 random{5};
  std::uint64_t bits = 0;
  for (int number = 0; number < 100'000; ++number) {
    const std::size_t bytes = std::uniform_int_distribution<std::size_t>{60, 9014}(random);
    const auto exact = static_cast<long double>(bits) * 1e9L / static_cast<long double>(rate);
    const auto due = static_cast<long double>(pacing.next(Duration{0}, bytes).count());
    ASSERT_GE(due, exact - 1);
    ASSERT_LE(due, exact);
    bits += bytes * 8;
  }
}

TEST(Pacing, AtTopSpeedAllIsDueAtOnce) {
  Pacing pacing{Pace{.kind = Pace::Kind::top}};
  EXPECT_EQ(pacing.next(Duration{0}, 100), Duration{0});
  EXPECT_EQ(pacing.next(nanoseconds{77}, 9000), Duration{0});
}

// The sender is late again and again, by more than the gaps: none of this may show in the times of later frames.
TEST(Pacing, LatenessIsNotAddedUp) {
  Pacing pacing{Pace{.kind = Pace::Kind::packets, .per_second = 1'000'000}};
  constexpr Duration lateness{1'500};
  Duration sent{0};
  for (std::int64_t number = 0; number < 10'000; ++number) {
    const Duration due = pacing.next(Duration{0}, 100);
    sent = std::max(sent, due) + (number % 3 == 0 ? lateness : Duration{0});
    ASSERT_EQ(due, Duration{number * 1000});
    ASSERT_LE(sent - due, 2 * lateness);
  }
}

}  // namespace
}  // namespace roce::replay
