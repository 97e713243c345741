// SPDX-License-Identifier: BSD-2-Clause
// The guards that keep strangers, who have no right to anything, out and within bounds.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "roce/live/crowd.h"
#include "roce/live/note_limit.h"
#include "roce/live/peer_memory.h"
#include "roce/live/token_guard.h"

namespace roce::live {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Time kBegin{seconds{1000}};

TEST(Secrets, AreTheSameOrNot) {
  EXPECT_TRUE(is_same_secret("", ""));
  EXPECT_TRUE(is_same_secret("secret", "secret"));
  for (const char* other : {"", "secre", "secrets", "Secret", "secreT"}) {
    EXPECT_FALSE(is_same_secret("secret", other));
    EXPECT_FALSE(is_same_secret(other, "secret"));
  }
}

TEST(TokenGuard, RefusesLongerAndLonger) {
  TokenGuard guard;
  Time time = kBegin;
  for (unsigned i = 1; i < TokenGuard::kFree; ++i) EXPECT_EQ(guard.count_wrong("a", time), time);
  std::vector<Duration> pauses;
  for (int i = 0; i < 10; ++i) {
    const Time until = guard.count_wrong("a", time);
    EXPECT_EQ(guard.refuses_until("a", time), until);
    EXPECT_EQ(guard.refuses_until("b", time), time);
    pauses.push_back(until - time);
    time = until;
    EXPECT_EQ(guard.refuses_until("a", time), time);
  }
  EXPECT_EQ(pauses[0], seconds{10});
  EXPECT_EQ(pauses[1], seconds{20});
  EXPECT_EQ(pauses[9], TokenGuard::kLongestPause);
}

TEST(TokenGuard, ForgetsWhoKnowsTheTokenAndWhoWasQuiet) {
  TokenGuard guard;
  for (unsigned i = 0; i < TokenGuard::kFree; ++i) (void)guard.count_wrong("a", kBegin);
  guard.forget("a");
  EXPECT_EQ(guard.refuses_until("a", kBegin), kBegin);
  (void)guard.count_wrong("a", kBegin);
  (void)guard.count_wrong("a", kBegin);
  const Time later = kBegin + 2 * TokenGuard::kLongestPause;
  EXPECT_EQ(guard.count_wrong("a", later), later);
}

TEST(TokenGuard, RemembersTheLastOnes) {
  TokenGuard guard;
  for (unsigned i = 0; i < TokenGuard::kFree; ++i) (void)guard.count_wrong("first", kBegin);
  for (std::size_t i = 0; i < TokenGuard::kMost; ++i) (void)guard.count_wrong(std::to_string(i), kBegin + seconds{1});
  EXPECT_EQ(guard.refuses_until("first", kBegin), kBegin);
}

TEST(Crowd, LosesItsOldestAndNobodyElseDoes) {
  std::vector<std::pair<std::string, int>> waiting{{"x", 0}, {"many", 1}, {"y", 2}, {"many", 3}, {"many", 4}};
  const auto address = [](const auto& one) { return one.first; };
  EXPECT_EQ(whom_to_displace(waiting, address)->second, 1);
  waiting = {{"x", 0}, {"y", 1}};
  EXPECT_EQ(whom_to_displace(waiting, address)->second, 0);
}

TEST(NoteLimit, LetsTheFirstThroughAndCountsTheOthers) {
  NoteLimit limit;
  for (unsigned i = 0; i < NoteLimit::kMost; ++i) EXPECT_TRUE(limit.may_tell(kBegin));
  EXPECT_EQ(limit.next_summary(), kNever);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.may_tell(kBegin + seconds{1}));
  EXPECT_EQ(limit.take_left_out(kBegin + seconds{1}), 0U);
  EXPECT_EQ(limit.next_summary(), kBegin + NoteLimit::kInterval);
  EXPECT_EQ(limit.take_left_out(kBegin + NoteLimit::kInterval), 3U);
  EXPECT_EQ(limit.take_left_out(kBegin + NoteLimit::kInterval), 0U);
  EXPECT_TRUE(limit.may_tell(kBegin + NoteLimit::kInterval));
}

TEST(PeerMemory, IsOfOneBudget) {
  const auto budget = std::make_shared<MemoryBudget>(10'000);
  Result<PeerMemory> one = PeerMemory::make(budget, 6'000);
  ASSERT_TRUE(one);
  for (const std::byte byte : one->bytes()) ASSERT_EQ(byte, std::byte{0});
  EXPECT_EQ(budget->left(), 4'000U);
  EXPECT_THAT(PeerMemory::make(budget, 5'000).error().message, HasSubstr("--memory-limit"));
  { const Result<PeerMemory> other = PeerMemory::make(budget, 4'000); }
  EXPECT_EQ(budget->left(), 4'000U);
  EXPECT_FALSE(one->give_back(1));
  EXPECT_TRUE(one->give_back(6'000));
  EXPECT_EQ(budget->left(), 10'000U);
}

}  // namespace
}  // namespace roce::live
