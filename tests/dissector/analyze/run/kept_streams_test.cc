// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/kept_streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace roce::analyze {
namespace {

using analysis::StreamSummary;
using analysis::VerdictKind;

constexpr std::uint32_t kStreams = 10'000;

/// Returns streams of which every hundredth has lost something and every tenth has two packets instead of one.
std::vector<StreamSummary> scan() {
  std::vector<StreamSummary> streams(kStreams);
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    streams[i].stream = i;
    streams[i].directions[0].packets = i % 10 == 0 ? 2 : 1;
    if (i % 100 == 0) streams[i].verdicts.add(VerdictKind::request_lost_after);
  }
  return streams;
}

struct Outcome {
  std::vector<std::uint32_t> kept;
  std::set<std::uint32_t> forgotten;
  std::uint64_t left_out = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Returns which streams are kept and which are forgotten when they come `at_a_time` at a time and `most` are kept.
Outcome outcome(const std::vector<StreamSummary>& streams, std::size_t most, std::size_t at_a_time) {
  Outcome outcome;
  KeptStreams kept{most, [&](const StreamSummary& each) { outcome.forgotten.insert(each.stream); }};
  for (std::size_t i = 0; i < streams.size(); i += at_a_time) {
    const auto begin = streams.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = streams.begin() + static_cast<std::ptrdiff_t>(std::min(i + at_a_time, streams.size()));
    std::vector<StreamSummary> ended{begin, end};
    kept.add(ended);
    EXPECT_TRUE(ended.empty());
  }
  for (const StreamSummary& each : kept.take()) outcome.kept.push_back(each.stream);
  outcome.left_out = kept.left_out();
  return outcome;
}

TEST(KeptStreams, AreTheWorstAndThenTheEarliest) {
  const Outcome found = outcome(scan(), 200, 1);
  ASSERT_EQ(found.kept.size(), 200U);
  EXPECT_TRUE(std::is_sorted(found.kept.begin(), found.kept.end()));
  EXPECT_EQ(std::count_if(found.kept.begin(), found.kept.end(), [](std::uint32_t i) { return i % 100 == 0; }), 100);
  // Nine others in a hundred have two packets; the first hundred of these are kept.
  EXPECT_TRUE(std::all_of(found.kept.begin(), found.kept.end(), [](std::uint32_t i) { return i % 10 == 0; }));
  EXPECT_EQ(found.left_out, kStreams - 200);
  EXPECT_EQ(found.forgotten.size(), kStreams - 200);
  EXPECT_FALSE(found.forgotten.contains(found.kept.front()));
}

TEST(KeptStreams, DoNotDependOnHowTheyCame) {
  std::vector<StreamSummary> streams = scan();
  const Outcome expected = outcome(streams, 777, 1);
  EXPECT_EQ(outcome(streams, 777, 4096), expected);
  std::reverse(streams.begin(), streams.end());
  EXPECT_EQ(outcome(streams, 777, 100), expected);
}

TEST(KeptStreams, AreAllWhereThereIsRoom) {
  const Outcome found = outcome(scan(), kStreams, 100);
  EXPECT_EQ(found.kept.size(), kStreams);
  EXPECT_EQ(found.left_out, 0U);
}

}  // namespace
}  // namespace roce::analyze
