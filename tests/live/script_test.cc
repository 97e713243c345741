// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/script.h"

#include <gmock/gmock.h>

#include <memory>
#include <vector>

namespace roce::live {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr Time kStart{milliseconds{1000}};

Task<int> wait_for(const bool& flag, int value) {
  co_await until([&] { return flag; });
  co_return value;
}

Task<> note_both(const bool& first, const bool& second, std::vector<int>& noted) {
  noted.push_back(co_await wait_for(first, 1));
  noted.push_back(co_await wait_for(second, 2));
}

TEST(Script, GoesOnAsFarAsWhatItWaitsForHasHappened) {
  bool first = false;
  bool second = false;
  std::vector<int> noted;
  Script script{note_both(first, second, noted)};
  EXPECT_TRUE(script.step(kStart));
  EXPECT_FALSE(script.step(kStart)) << "nothing happened";
  second = true;
  EXPECT_FALSE(script.step(kStart)) << "it waits for the first";
  EXPECT_THAT(noted, ElementsAre());
  first = true;
  EXPECT_TRUE(script.step(kStart));
  EXPECT_THAT(noted, ElementsAre(1, 2)) << "the second had happened";
  EXPECT_TRUE(script.is_over());
  EXPECT_EQ(script.error(), "");
}

Task<> note_in_time(const bool& flag, std::vector<int>& noted) {
  const Time begun = co_await this_time{};
  const bool in_time = co_await until([&] { return flag; }, begun + milliseconds{5});
  noted.push_back(in_time ? 1 : 0);
}

TEST(Script, WaitsNoLongerThanToTheDeadline) {
  bool flag = false;
  std::vector<int> noted;
  Script late{note_in_time(flag, noted)};
  late.step(kStart);
  EXPECT_EQ(late.next_timeout(), kStart + milliseconds{5});
  EXPECT_FALSE(late.step(kStart + milliseconds{4}));
  EXPECT_TRUE(late.step(kStart + milliseconds{5}));
  EXPECT_TRUE(late.is_over());
  Script in_time{note_in_time(flag, noted)};
  in_time.step(kStart);
  flag = true;
  in_time.step(kStart + milliseconds{6});
  EXPECT_THAT(noted, ElementsAre(0, 1)) << "what happened counts, though it is late";
}

Task<> fail_inside() {
  throw ScriptFailure{"the cable is cut"};
  co_return;
}

Task<> fail_below(std::shared_ptr<int> held) {
  co_await fail_inside();
  *held = 1;
}

TEST(Script, EndsWithTheReasonOfAFailureAndLetsGoOfAll) {
  auto held = std::make_shared<int>(0);
  Script script{fail_below(held)};
  EXPECT_TRUE(script.step(kStart));
  EXPECT_TRUE(script.is_over());
  EXPECT_EQ(script.error(), "the cable is cut");
  EXPECT_EQ(*held, 0);
  EXPECT_FALSE(script.step(kStart));
}

Task<> hold(std::shared_ptr<int> held) {
  co_await until([] { return false; });
  *held = 1;
}

TEST(Script, LetsGoOfAllWhenItIsGivenUp) {
  auto held = std::make_shared<int>(0);
  {
    Script script{hold(held)};
    script.step(kStart);
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace roce::live
