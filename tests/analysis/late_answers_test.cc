// SPDX-License-Identifier: BSD-2-Clause
// Requests that are sent again because their answer is late, and those of which something was lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Analyses a trace after a request that was answered at once, in frames 1 and 2: both directions are in the capture.
Findings analyse_later(const std::string& trace) {
  return analyse("-20 A>B SEND_ONLY 99 ar\n-10 B>A ACK 99\n" + trace);
}

// A-LOSS-8 (a responder that answers once more than it was asked again has lost nothing)
TEST(LateAnswers, OfAResponderThatAnswersAWindowTwiceAreNoLoss) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY  100  ar
         1  A>B  SEND_ONLY  101  ar
         2  A>B  SEND_ONLY  102  ar
     67002  A>B  SEND_ONLY  100  ar
     67003  A>B  SEND_ONLY  101  ar
     67004  A>B  SEND_ONLY  102  ar
     85000  B>A  ACK        100
     85001  B>A  ACK        101
     85002  B>A  ACK        102
     85003  B>A  ACK        102
     85004  B>A  ACK        102
     85005  B>A  ACK        102
     85010  A>B  SEND_ONLY  103  ar
     85020  B>A  ACK        103)");
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(found.streams[0].lost_packets, 0U);
}

TEST(LateAnswers, OfWhichTheLastIsTheEndOfTheCaptureAreNoLoss) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY  100  ar
     67000  A>B  SEND_ONLY  100  ar
     85000  B>A  ACK        100
     85001  B>A  ACK        100)");
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(LateAnswers, ToARequestThatWasSentThreeTimesAreNoLoss) {
  const Findings found = analyse_later(R"(
          0  A>B  SEND_ONLY  100  ar
      67000  A>B  SEND_ONLY  100  ar
     134000  A>B  SEND_ONLY  100  ar
     150000  B>A  ACK        100
     150001  B>A  ACK        100
     150002  B>A  ACK        100
     150010  A>B  SEND_ONLY  101  ar
     150020  B>A  ACK        101)");
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(LateAnswers, OneFewerThanTheTransmissionsIsOneLoss) {
  const Findings found = analyse_later(R"(
          0  A>B  SEND_ONLY  100  ar
      67000  A>B  SEND_ONLY  100  ar
     134000  A>B  SEND_ONLY  100  ar
     150000  B>A  ACK        100
     150001  B>A  ACK        100
     150010  A>B  SEND_ONLY  101  ar
     150020  B>A  ACK        101)");
  EXPECT_THAT(found.later, ElementsAre("3 lost_beyond 100 of=4"));
}

TEST(LateAnswers, OfAReadThatIsAnsweredTwiceAreNoLoss) {
  const Findings found = analyse_later(R"(
         0  A>B  READ    100  dma=640
     67000  A>B  READ    100  dma=640
     85000  B>A  FIRST   100
     85001  B>A  MIDDLE  101
     85002  B>A  LAST    102  len=128
     85003  B>A  FIRST   100
     85004  B>A  MIDDLE  101
     85005  B>A  LAST    102  len=128
     85010  A>B  READ    103  dma=64
     85020  B>A  ONLY    103  len=64)");
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(LateAnswers, AnAnswerToALaterRequestEndsTheWait) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY  100  ar
     67000  A>B  SEND_ONLY  100  ar
     67010  B>A  ACK        100
     67020  A>B  SEND_ONLY  101  ar
     67030  B>A  ACK        101
     67040  B>A  ACK        101)");
  EXPECT_THAT(found.later, ElementsAre("3 lost_beyond 100 of=4"));
}

TEST(LateAnswers, OneAcknowledgementOfAWindowTellsOfALoss) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY  100  ar
         1  A>B  SEND_ONLY  101  ar
     67000  A>B  SEND_ONLY  100  ar
     67001  A>B  SEND_ONLY  101  ar
     67010  B>A  ACK        101
     67020  A>B  SEND_ONLY  102  ar
     67030  B>A  ACK        102)");
  EXPECT_THAT(found.later, ElementsAre("3 lost_beyond 100 of=5"));
}

// Soft-RoCE acknowledges each duplicate, whether it asks for that or not.
TEST(LateAnswers, ToDuplicatesThatAskForNoneAreNotCountedAsMore) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_FIRST   100
         1  A>B  SEND_MIDDLE  101
         2  A>B  SEND_LAST    102  ar   # lost
     67002  A>B  SEND_FIRST   100
     67003  A>B  SEND_MIDDLE  101
     67004  A>B  SEND_LAST    102  ar
     67010  B>A  ACK          101
     67011  B>A  ACK          101
     67012  B>A  ACK          102
     67020  A>B  SEND_ONLY    103  ar
     67030  B>A  ACK          103)");
  EXPECT_THAT(found.later, ElementsAre("5 lost_beyond 100x3 of=6"));
}

// kDoubtsKept
TEST(LateAnswers, OfRequestsInDoubtTheNewestEightAreRemembered) {
  const auto answered_late = [](int transmissions) {
    std::string trace;
    int time = 0;
    for (int i = 0; i < transmissions; ++i) trace += fmt::format("{} A>B SEND_ONLY 100 ar\n", time += 67'000);
    for (int i = 0; i < transmissions; ++i) trace += fmt::format("{} B>A ACK 100\n", ++time);
    return analyse_later(trace).later;
  };
  EXPECT_THAT(answered_late(9), IsEmpty());
  EXPECT_THAT(answered_late(10), ElementsAre("3 lost_beyond 100 of=4"));
}

// A-LOSS-9 (an answer that comes sooner than one to a retransmission can is to the transmission before)
TEST(LateRequests, AnsweredSoonerThanWhatWasSentAgainAreNotLost) {
  const auto answered = [](const std::string& answer) {
    return analyse_later(
        "0 A>B SEND_ONLY 100\n1 A>B SEND_ONLY 101\n2 A>B SEND_ONLY 102 ar\n11 B>A NAK_SEQUENCE 100\n"
        "15 A>B SEND_ONLY 100\n" +
        answer + "\n16.5 A>B SEND_ONLY 101\n17.5 A>B SEND_ONLY 102 ar\n27 B>A ACK 102");
  };
  const Findings late = answered("16 B>A NAK_SEQUENCE 101");
  EXPECT_THAT(late.later, ElementsAre("3 request_late_after 100 of=6 after=5us"));
  EXPECT_EQ(late.streams[0].lost_packets, 0U);
  const Findings lost = answered("");
  EXPECT_THAT(lost.later, ElementsAre("3 request_lost_after 100 of=6 after=11us"));
  EXPECT_EQ(lost.streams[0].lost_packets, 1U);
}

TEST(LateRequests, OfWhichSeveralTransmissionsWereUnderWayAreNeither) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY     100  ar
     67000  A>B  SEND_ONLY     100  ar
     67001  A>B  SEND_ONLY     101  ar
     67011  B>A  NAK_SEQUENCE  100
     67020  A>B  SEND_ONLY     100  ar
     67020.5  B>A  ACK         100
     67021  A>B  SEND_ONLY     101  ar
     67031  B>A  ACK           101)");
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("3 request_"))));
}

TEST(LateRequests, ThatNothingAnswersAnyMoreAreLost) {
  const Findings found = analyse_later(R"(
         0  A>B  SEND_ONLY     100  ar
         1  A>B  SEND_ONLY     101  ar
        11  B>A  NAK_SEQUENCE  100
        15  A>B  SEND_ONLY     100  ar)");
  EXPECT_THAT(found.later, Contains("3 request_lost_after 100 of=5 after=11us"));
}

}  // namespace
}  // namespace roce::analysis
