// SPDX-License-Identifier: BSD-2-Clause
// Marks, CNPs, and their effect on the rate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using std::chrono::microseconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A connection whose two directions are known to belong together.
const std::string kJoined = R"(
     0  A>B  SEND_ONLY  100
     1  B>A  ACK        100
)";

TEST(Congestion, DelayFromTheFirstMarkToTheCnp) {
  const Findings found = analyse(kJoined + R"(
    10  A>B  SEND_ONLY  101  ce
    12  A>B  SEND_ONLY  102  ce
    30  B>A  CNP        0
    40  A>B  SEND_ONLY  103  ce
   100  B>A  CNP        0)");
  ASSERT_THAT(found.streams, SizeIs(1));
  ASSERT_THAT(found.streams[0].congestion, SizeIs(1));
  const CongestionSummary& congestion = found.streams[0].congestion[0];
  EXPECT_EQ(congestion.direction, 0);
  EXPECT_EQ(congestion.marks, 3U);
  EXPECT_EQ(congestion.cnps, 2U);
  EXPECT_EQ(congestion.cnps_without_mark, 0U);
  EXPECT_EQ(congestion.marks_since_cnp, 0U);
  EXPECT_EQ(congestion.mark_to_cnp.count(), 2U);
  EXPECT_EQ(congestion.mark_to_cnp.min(), microseconds{20});
  EXPECT_EQ(congestion.mark_to_cnp.max(), microseconds{60});
  EXPECT_EQ(congestion.cnp_spacing.count(), 1U);
  EXPECT_EQ(congestion.cnp_spacing.min(), microseconds{70});
}

TEST(Congestion, WithoutMarksAndCnpsThereIsNothing) {
  EXPECT_THAT(analyse(kJoined).streams[0].congestion, IsEmpty());
}

TEST(Congestion, CnpsWithoutMarks) {
  const Findings found = analyse(kJoined + R"(
    10  A>B  SEND_ONLY  101  ce
    30  B>A  CNP        0
    50  B>A  CNP        0)");
  const CongestionSummary& congestion = found.streams[0].congestion.at(0);
  EXPECT_EQ(congestion.cnps, 2U);
  EXPECT_EQ(congestion.cnps_without_mark, 1U);
  EXPECT_EQ(congestion.mark_to_cnp.count(), 1U);
}

TEST(Congestion, MarksWithoutCnps) {
  const Findings found = analyse(kJoined + R"(
    10  A>B  SEND_ONLY  101  ce
    11  A>B  SEND_ONLY  102  ce)");
  const CongestionSummary& congestion = found.streams[0].congestion.at(0);
  EXPECT_EQ(congestion.marks_since_cnp, 2U);
  EXPECT_EQ(congestion.cnps, 0U);
  EXPECT_EQ(congestion.mark_to_cnp.count(), 0U);
}

TEST(Congestion, ReadResponsesAreDataOfTheResponder) {
  const Findings found = analyse(R"(
     0  A>B  READ   100  dma=512
    10  B>A  FIRST  100  ce
    11  B>A  LAST   101
    15  A>B  CNP    0)");
  ASSERT_THAT(found.streams, SizeIs(1));
  ASSERT_THAT(found.streams[0].congestion, SizeIs(1));
  EXPECT_EQ(found.streams[0].congestion[0].direction, 1);
  EXPECT_EQ(found.streams[0].congestion[0].mark_to_cnp.max(), microseconds{5});
}

TEST(Congestion, BothDirectionsAreApart) {
  const Findings found = analyse(kJoined + R"(
    10  B>A  SEND_ONLY  500  ce
    12  A>B  SEND_ONLY  101  ce
    20  B>A  CNP        0
    25  A>B  CNP        0)");
  ASSERT_THAT(found.streams[0].congestion, SizeIs(2));
  EXPECT_EQ(found.streams[0].congestion[0].direction, 0);
  EXPECT_EQ(found.streams[0].congestion[0].mark_to_cnp.max(), microseconds{8});
  EXPECT_EQ(found.streams[0].congestion[1].direction, 1);
  EXPECT_EQ(found.streams[0].congestion[1].mark_to_cnp.max(), microseconds{15});
}

TEST(Congestion, MarkedAcksAreNoData) {
  const Findings found = analyse(kJoined + R"(
    10  A>B  SEND_ONLY  101
    11  B>A  ACK        101  ce)");
  EXPECT_THAT(found.streams[0].congestion, IsEmpty());
}

TEST(Congestion, CopiesDoNotCount) {
  const Findings found = analyse(kJoined + R"(
    10  A>B  SEND_ONLY  101  ce  id=77
    11  A>B  SEND_ONLY  101  ce  id=77
    19  B>A  ACK        101      id=2001
    20  B>A  CNP        0        id=2002
    21  B>A  CNP        0        id=2002)");
  const CongestionSummary& congestion = found.streams[0].congestion.at(0);
  EXPECT_EQ(congestion.marks, 1U);
  EXPECT_EQ(congestion.cnps, 1U);
  EXPECT_EQ(congestion.cnp_spacing.count(), 0U);
}

TEST(Congestion, CnpsInFrontOfTheFirstResponseAreKept) {
  const Findings found = analyse(R"(
     0  B>A  CNP        0
     5  B>A  CNP        0
    10  A>B  SEND_ONLY  100  ce
    20  B>A  ACK        100
    30  B>A  CNP        0)");
  ASSERT_THAT(found.streams, SizeIs(1));
  EXPECT_EQ(found.streams[0].service, Service::rc);
  ASSERT_THAT(found.streams[0].congestion, SizeIs(1));
  const CongestionSummary& congestion = found.streams[0].congestion[0];
  EXPECT_EQ(congestion.cnps, 3U);
  EXPECT_EQ(congestion.cnps_without_mark, 0U) << "what the two were for came before the capture";
  EXPECT_EQ(congestion.mark_to_cnp.max(), microseconds{20});
  EXPECT_EQ(congestion.cnp_spacing.min(), microseconds{5});
  EXPECT_EQ(congestion.cnp_spacing.max(), microseconds{25});
}

TEST(Congestion, AMarkThatWasAnsweredBeforeTheDirectionsWereKnownIsNotAnsweredAgain) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  ce
     5  B>A  CNP        0
    20  B>A  ACK        100
   500  B>A  CNP        0)");
  ASSERT_THAT(found.streams, SizeIs(1));
  const CongestionSummary& congestion = found.streams[0].congestion.at(0);
  EXPECT_EQ(congestion.cnps, 2U);
  EXPECT_EQ(congestion.mark_to_cnp.count(), 0U);
  EXPECT_EQ(congestion.marks_since_cnp, 0U);
}

// Returns packets of equal size from `begin` to before `end`, one every `step` us; PSNs count up from `psn`.
std::string sent(unsigned begin, unsigned end, unsigned step, unsigned& psn) {
  std::string trace;
  for (unsigned time = begin; time < end; time += step) trace += fmt::format("{} A>B SEND_ONLY {}\n", time, psn++);
  return trace;
}

TEST(Congestion, TheRateBeforeAndAfterACnp) {
  unsigned psn = 101;
  const std::string before = sent(10, 3000, 10, psn);
  const std::string after = sent(3005, 5000, 40, psn);
  const Findings found = analyse(kJoined + before + "3000 B>A CNP 0\n" + after);
  ASSERT_THAT(found.streams, SizeIs(1));
  const CnpReaction& reaction = found.streams[0].congestion.at(0).reaction;
  EXPECT_EQ(reaction.cnps, 1U);
  EXPECT_EQ(reaction.slowed, 1U);
  const auto per_microsecond = [](std::uint64_t bytes, Duration time) {
    return static_cast<double>(bytes) / (static_cast<double>(time.count()) / 1000);
  };
  const double frame = static_cast<double>(found.streams[0].directions[0].bytes) /
                       static_cast<double>(found.streams[0].directions[0].packets);
  EXPECT_NEAR(per_microsecond(reaction.bytes_before, reaction.time_before), frame / 10, frame / 10 * 0.02);
  EXPECT_NEAR(per_microsecond(reaction.bytes_after, reaction.time_after), frame / 40, frame / 40 * 0.05);
  EXPECT_EQ(reaction.time_after, kReactionWindow);
}

TEST(Congestion, OfASeriesOfCnpsTheFirstCounts) {
  unsigned psn = 101;
  const std::string before = sent(10, 3000, 10, psn);
  const std::string after = sent(3005, 5000, 10, psn);
  const Findings found = analyse(kJoined + before + "3000 B>A CNP 0\n3001 B>A CNP 0\n3002 B>A CNP 0\n" + after);
  const CnpReaction& reaction = found.streams[0].congestion.at(0).reaction;
  EXPECT_EQ(reaction.cnps, 1U);
  EXPECT_EQ(reaction.slowed, 0U) << "the rate is the same";
}

TEST(Congestion, AnIncompleteWindowSaysNothing) {
  unsigned psn = 101;
  const std::string late = sent(10, 500, 10, psn) + "500 B>A CNP 0\n" + sent(505, 3000, 10, psn);
  EXPECT_EQ(analyse(kJoined + late).streams[0].congestion.at(0).reaction.cnps, 0U) << "it had only begun";
  psn = 101;
  const std::string early = sent(10, 3000, 10, psn) + "3000 B>A CNP 0\n" + sent(3005, 3500, 10, psn);
  EXPECT_EQ(analyse(kJoined + early).streams[0].congestion.at(0).reaction.cnps, 0U) << "the capture ends";
  psn = 101;
  const std::string silent = sent(10, 3000, 10, psn) + "9000 B>A CNP 0\n" + sent(9005, 12000, 10, psn);
  EXPECT_EQ(analyse(kJoined + silent).streams[0].congestion.at(0).reaction.cnps, 0U) << "there was no rate";
}

}  // namespace
}  // namespace roce::analysis
