// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/start_time.h"

#include <gmock/gmock.h>

namespace roce::replay {
namespace {

using ::testing::HasSubstr;

// 2026-11-22T12:00:00Z
constexpr std::int64_t kNoon = 1'795'348'800'000'000'000;

TEST(StartTime, IsRelativeOrAbsolute) {
  EXPECT_EQ(*time_until("+2", kNoon), Duration{2'000'000'000});
  EXPECT_EQ(*time_until("+0.000000001", kNoon), Duration{1});
  EXPECT_EQ(*time_until("1795348800", kNoon), Duration{0});
  EXPECT_EQ(*time_until("1795348801.25", kNoon), Duration{1'250'000'000});
  EXPECT_EQ(*time_until("2026-11-22T12:00:00Z", kNoon), Duration{0});
  EXPECT_EQ(*time_until("2026-11-23T12:00:00.5Z", kNoon), Duration{86'400'500'000'000});
}

TEST(StartTime, ATimeThatIsOverIsAnError) {
  EXPECT_THAT(time_until("2026-11-22T11:59:59Z", kNoon).error().message, HasSubstr("1.000 s ago"));
}

TEST(StartTime, AnythingElseIsAnError) {
  for (const char* wrong : {"", "+", "-1", "noon", "+1s", "12:00", "2026-11-22", "2026-11-22T12:00:00", "1e9",
                            "2026-11-22T12:00:00.Zx", "2026-13-22T12:00:00Z", "99999999999"}) {
    const Outcome<Duration> wait = time_until(wrong, kNoon);
    ASSERT_FALSE(wait) << wrong;
    EXPECT_EQ(wait.error().code, ExitCode::usage);
  }
}

}  // namespace
}  // namespace roce::replay
