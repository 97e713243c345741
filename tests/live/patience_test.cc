// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/patience.h"

#include <gtest/gtest.h>

namespace roce::live {
namespace {

using std::chrono::seconds;

constexpr Time kStart{seconds{1000}};

Task<> wait_patiently(const bool& flag, const std::uint64_t& progress, int& result) {
  const bool happened = co_await patiently([&] { return flag; }, [&] { return progress; }, seconds{10});
  result = happened ? 1 : 0;
}

TEST(Patience, LastsAsLongAsThereIsProgress) {
  bool flag = false;
  std::uint64_t progress = 5;
  int result = -1;
  Script script{wait_patiently(flag, progress, result)};
  script.step(kStart);
  EXPECT_EQ(script.next_timeout(), kStart + seconds{10});
  progress = 6;
  EXPECT_FALSE(script.step(kStart + seconds{10}));
  EXPECT_EQ(script.next_timeout(), kStart + seconds{20});
  EXPECT_FALSE(script.step(kStart + seconds{19}));
  EXPECT_TRUE(script.step(kStart + seconds{20}));
  EXPECT_EQ(result, 0);
}

TEST(Patience, EndsWithWhatIsWaitedFor) {
  bool flag = false;
  const std::uint64_t progress = 5;
  int result = -1;
  Script script{wait_patiently(flag, progress, result)};
  script.step(kStart);
  EXPECT_FALSE(script.step(kStart + seconds{9}));
  flag = true;
  EXPECT_TRUE(script.step(kStart + seconds{11}));
  EXPECT_EQ(result, 1);
}

}  // namespace
}  // namespace roce::live
