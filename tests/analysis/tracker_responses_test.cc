// SPDX-License-Identifier: BSD-2-Clause
// Verdicts on responses, and on what became of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST(ResponseVerdicts, AcknowledgementLostBehindTheCapturePoint) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  ACK        100
    5000  A>B  SEND_ONLY  100  ar
    5010  B>A  ACK        100)");
  EXPECT_THAT(found.now,
              ElementsAre("3 retransmission 100 cause=timeout of=1 after=5000us spurious", "4 duplicate_ack 100"));
  EXPECT_THAT(found.later, ElementsAre("2 response_lost_after 100 of=3"));
}

// A link that is down loses all of them: none of the requester's packets passes in between.
TEST(ResponseVerdicts, ManyAcknowledgementsLostInOneOutage) {
  std::string trace;
  for (int i = 0; i < 12; ++i) trace += fmt::format("{} A>B SEND_ONLY {} ar\n", i, 100 + i);
  for (int i = 0; i < 12; ++i) trace += fmt::format("{} B>A ACK {}\n", 20 + i, 100 + i);
  const Findings found = analyse(trace + "5000 A>B SEND_ONLY 100 ar\n");
  EXPECT_THAT(found.later, SizeIs(12));
  EXPECT_THAT(found.later, Each(HasSubstr("response_lost_after")));
}

TEST(ResponseVerdicts, ManyAcknowledgementsAmongRequestsWereNotHeeded) {
  std::string trace;
  for (int i = 0; i < 12; ++i) {
    trace += fmt::format("{} A>B SEND_ONLY {} ar\n{} B>A ACK {}\n", 20 * i, 100 + i, 20 * i + 10, 100 + i);
  }
  const Findings found = analyse(trace + "5000 A>B SEND_ONLY 100 ar\n");
  EXPECT_THAT(found.now, ElementsAre(HasSubstr("25 retransmission 100 cause=timeout")));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(ResponseVerdicts, ReadResponseLostBehindTheCapturePoint) {
  const Findings found = analyse(R"(
       0  A>B  READ  100
      10  B>A  ONLY  100
    5000  A>B  READ  100
    5010  B>A  ONLY  100)");
  EXPECT_THAT(found.now, ElementsAre("3 retransmission 100 cause=timeout of=1 after=5000us spurious",
                                     "4 response_repeated 100 of=3"));
  EXPECT_THAT(found.later, ElementsAre("2 response_lost_after 100 of=3"));
}

TEST(ResponseVerdicts, AtomicResponseLostBehindTheCapturePoint) {
  const Findings found = analyse(R"(
       0  A>B  FETCH_ADD           100
      10  B>A  ATOMIC_ACKNOWLEDGE  100
    5000  A>B  FETCH_ADD           100
    5010  B>A  ATOMIC_ACKNOWLEDGE  100)");
  EXPECT_THAT(found.now, ElementsAre("3 retransmission 100 cause=timeout of=1 after=5000us spurious",
                                     "4 response_repeated 100 of=3"));
  EXPECT_THAT(found.later, ElementsAre("2 response_lost_after 100 of=3"));
}

TEST(ResponseVerdicts, ReadResponseNotInTime) {
  const Findings found = analyse(R"(
     0  A>B  READ  100
     1  A>B  READ  101
    10  B>A  ONLY  100
    11  B>A  ONLY  101
    13  A>B  READ  100
    14  A>B  READ  101
    23  B>A  ONLY  100
    24  B>A  ONLY  101)");
  EXPECT_THAT(found.now, ElementsAre("5 retransmission 100 cause=implied_nak of=1 after=13us spurious",
                                     "6 retransmission 101 cause=implied_nak of=2 after=13us spurious",
                                     "7 response_repeated 100 of=5", "8 response_repeated 101 of=6"));
  EXPECT_THAT(found.later, ElementsAre("3 response_not_in_time 100 of=5"));
}

TEST(ResponseVerdicts, ReadPassedWithoutAnAnswer) {
  const Findings found = analyse(R"(
     0  A>B  READ       100
     1  A>B  SEND_ONLY  101  ar
    10  B>A  ACK        101
    12  A>B  READ       100
    13  A>B  SEND_ONLY  101  ar
    20  B>A  ONLY       100
    21  B>A  ACK        101)");
  EXPECT_THAT(found.now,
              ElementsAre("3 implied_nak 100 of=1 after=10us", "4 retransmission 100 cause=implied_nak of=1 after=12us",
                          "5 retransmission 101 cause=implied_nak of=2 after=12us", "7 duplicate_ack 101"));
  EXPECT_THAT(found.later, ElementsAre("1 response_lost_before 100 of=4"));
}

TEST(ResponseVerdicts, AReadThatIsAnsweredInTimeIsNotPassed) {
  const Findings found = analyse(R"(
     0  A>B  READ       100
     1  A>B  SEND_ONLY  101  ar
    10  B>A  ONLY       100
    11  B>A  ACK        101)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(ResponseVerdicts, PartOfAnAnswerLostInFrontOfTheCapturePoint) {
  const Findings found = analyse(R"(
     0  A>B  READ    100  dma=1024
    10  B>A  FIRST   100
    11  B>A  LAST    103  len=256
    13  A>B  READ    101  dma=768
    20  B>A  FIRST   101
    21  B>A  MIDDLE  102
    22  B>A  LAST    103  len=256)");
  EXPECT_THAT(
      found.now,
      ElementsAre("3 response_gap 101x2 of=1", "4 retransmission 101 cause=implied_nak of=1 after=13us",
                  "5 response_repeated 101 of=4", "6 response_repeated 102 of=4", "7 response_repeated 103 of=4"));
  EXPECT_THAT(found.later, UnorderedElementsAre("3 response_lost_before 101 of=4", "3 unexplained 102"));
}

TEST(ResponseVerdicts, PartOfAnAnswerLostBehindTheCapturePoint) {
  const Findings found = analyse(R"(
     0  A>B  READ    100  dma=768
    10  B>A  FIRST   100
    11  B>A  MIDDLE  101
    12  B>A  LAST    102  len=256
    15  A>B  READ    101  dma=512
    20  B>A  FIRST   101
    21  B>A  LAST    102  len=256)");
  // It cannot be seen from here whether the middle one was lost or overtaken by the last one.
  EXPECT_THAT(found.later, ElementsAre("3 response_not_in_time 101 of=5"));
}

TEST(ResponseVerdicts, ResponsesOvertakeEachOther) {
  const Findings found = analyse(R"(
     0  A>B  READ    100  dma=768
    10  B>A  FIRST   100
    11  B>A  LAST    102  len=256
    12  B>A  MIDDLE  101
    20  A>B  SEND_ONLY 103 ar
    30  B>A  ACK     103)");
  EXPECT_THAT(found.now, ElementsAre("3 response_gap 101 of=1", "4 response_out_of_order 101 of=1"));
  EXPECT_THAT(found.later, ElementsAre("3 reordered 101"));
}

TEST(ResponseVerdicts, OnlyTheCaptureMissedPartOfAnAnswer) {
  const Findings found = analyse(R"(
        0  A>B  READ       100  dma=768
       10  B>A  FIRST      100
       11  B>A  LAST       102  len=256
       20  A>B  SEND_ONLY  103  ar
       30  B>A  ACK        103
    20000  A>B  SEND_ONLY  104  ar
    20010  B>A  ACK        104)");
  EXPECT_THAT(found.now, ElementsAre("3 response_gap 101 of=1", "5 implied_nak 100x3 of=1 after=30us"));
  EXPECT_THAT(found.later, ElementsAre("3 missed_by_capture 101"));
}

TEST(ResponseVerdicts, ALostSecondAnswerIsNotMissed) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=64
       1  A>B  READ       101  dma=64
      10  B>A  ONLY       100
      11  B>A  ONLY       101
      12  A>B  READ       100  dma=64
      13  A>B  READ       101  dma=64
      23  B>A  ONLY       101
      25  A>B  READ       102  dma=64
      26  A>B  SEND_ONLY  103  ar
      36  B>A  ACK        103
   20000  A>B  SEND_ONLY  104  ar
   20010  B>A  ACK        104)");
  EXPECT_THAT(found.later, ElementsAre("3 response_not_in_time 100 of=5", "5 unexplained 100 of=7",
                                       "8 missed_by_capture 102 of=10"));
  EXPECT_EQ(found.streams.at(0).missed_psns, 1U);
}

TEST(ResponseVerdicts, AResponseBehindThoseThatPassedItIsOfAnotherAnswer) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=768
       1  A>B  SEND_ONLY  103  ar
      10  B>A  FIRST      100
      12  B>A  LAST       102  len=256
      14  B>A  ACK        103
     100  B>A  ONLY       101)");
  EXPECT_THAT(found.now, ElementsAre("4 response_gap 101 of=1", "5 implied_nak 100x3 of=1 after=14us"));
  EXPECT_THAT(found.later, ElementsAre("4 unexplained 101"));
}

// 103 was overtaken: A requests the READ again from 103 and, when 103 has come, from 104. Meanwhile B continues its
// first answer.
TEST(ResponseVerdicts, TheRestOfAnEarlierAnswerSaysNothingOfALaterOne) {
  const Findings found = analyse(R"(
     0    A>B  READ    100  dma=2048
    10    B>A  FIRST   100
    10.9  B>A  MIDDLE  101
    11.8  B>A  MIDDLE  102
    12.7  B>A  MIDDLE  104
    13.6  B>A  MIDDLE  105
    13.7  B>A  MIDDLE  103
    14    A>B  READ    103  dma=1280
    18    B>A  MIDDLE  106
    20    B>A  LAST    107  len=256
    21    A>B  READ    104  dma=1024
    31    B>A  FIRST   104
    32    B>A  MIDDLE  105
    33    B>A  MIDDLE  106
    34    B>A  LAST    107  len=256)");
  EXPECT_THAT(found.later, ElementsAre("5 reordered 103", "7 response_not_in_time 103 of=8"));
}

TEST(ResponseVerdicts, AcknowledgementsThatSayNothingNew) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  101
     2  A>B  SEND_ONLY  102
     3  A>B  SEND_ONLY  103
    10  B>A  ACK        101
    11  B>A  ACK        103
    12  B>A  ACK        103
    13  B>A  ACK        101
    14  B>A  ACK        102)");
  EXPECT_THAT(found.now, ElementsAre("7 duplicate_ack 103", "8 ghost_ack 101", "9 ghost_ack 102"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(ResponseVerdicts, AnAcknowledgementThatWasOvertakenIsNoGhost) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  101
     2  A>B  SEND_ONLY  102
    10  B>A  ACK        101  id=5
    11  B>A  ACK        102  id=7
    12  B>A  ACK        101  id=6)");
  EXPECT_THAT(found.now, ElementsAre("6 response_out_of_order 101"));
}

TEST(ResponseVerdicts, WithoutIdentificationsTheMsnTellsALateAcknowledgementFromAGhost) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  id=0
     1  A>B  SEND_ONLY  101  id=0
     2  A>B  SEND_ONLY  102  id=0
     3  A>B  SEND_ONLY  103  id=0
    10  B>A  ACK        100  id=0  aeth.msn=1
    11  B>A  ACK        102  id=0  aeth.msn=3
    12  B>A  ACK        101  id=0  aeth.msn=2
    13  B>A  ACK        103  id=0  aeth.msn=4
    14  B>A  ACK        100  id=0  aeth.msn=4)");
  EXPECT_THAT(found.now, ElementsAre("7 response_out_of_order 101", "9 ghost_ack 100"));
}

TEST(ResponseVerdicts, ACopyOfAnAcknowledgementIsNeitherDuplicateNorGhost) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  101
    10  B>A  ACK        100  id=7
    11  B>A  ACK        101  id=8
    12  B>A  ACK        101  id=8
    13  B>A  ACK        100  id=7)");
  EXPECT_THAT(found.now, ElementsAre("5 duplicate 101 cause=unknown of=4 after=1us",
                                     "6 duplicate 100 cause=unknown of=3 after=3us"));
}

TEST(ResponseVerdicts, AcknowledgementOfWhatTheCaptureDoesNotHave) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  ACK        100
      20  B>A  ACK        102
     500  A>B  SEND_ONLY  103  ar
     510  B>A  ACK        103)");
  EXPECT_THAT(found.now, ElementsAre("3 ack_of_unseen 101x2"));
  EXPECT_THAT(found.later, ElementsAre("3 missed_by_capture 101x2 of=3"));
}

struct Refusal {
  const char* opcode;
  const char* verdict;
};

class Refusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, EndTheMessage) {
  const Findings found = analyse("0 A>B WRITE_ONLY 100 ar\n10 B>A " + std::string{GetParam().opcode} + " 100");
  EXPECT_THAT(found.now, ElementsAre("2 " + std::string{GetParam().verdict} + " 100 of=1 after=10us"));
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::refused);
  EXPECT_EQ(found.messages[0].answer, (PacketId{2, 0}));
}

INSTANTIATE_TEST_SUITE_P(All, Refusals,
                         ::testing::Values(Refusal{"NAK_INVALID", "nak_invalid_request"},
                                           Refusal{"NAK_ACCESS", "nak_remote_access_error"},
                                           Refusal{"NAK_OPERATION", "nak_remote_operational_error"},
                                           Refusal{"NAK_RD", "nak_invalid_rd_request"}),
                         [](const auto& refusal) { return std::string{refusal.param.verdict}; });

TEST(ResponseVerdicts, AnswersAreLinkedToTheirRequests) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     3  A>B  READ       101  dma=512
    10  B>A  FIRST      101
    11  B>A  LAST       102  len=256
    20  A>B  SEND_ONLY  103  ar
    26  B>A  ACK        103)");
  EXPECT_EQ(found.packets[2].request, (PacketId{2, 0}));
  EXPECT_EQ(found.packets[2].latency, std::chrono::microseconds{7});
  EXPECT_EQ(found.packets[3].request, (PacketId{2, 0}));
  EXPECT_EQ(found.packets[5].request, (PacketId{5, 0}));
  ASSERT_EQ(found.answers.size(), 2U);
  EXPECT_EQ(found.answers[0].request, (PacketId{2, 0}));
  EXPECT_EQ(found.answers[0].response, (PacketId{3, 0}));
  EXPECT_EQ(found.answers[1].request, (PacketId{5, 0}));
  EXPECT_EQ(found.answers[1].latency, std::chrono::microseconds{6});
}

// RoCE v1, so no identification shows which packet was sent first.
TEST(ResponseVerdicts, AnswerThatBeginsInTheMiddleWasAskedForAgain) {
  // The request for the missing packets is not in the capture.
  const Findings found = analyse(R"(
     0  A>B  READ    100  v1  dma=1600
    10  B>A  FIRST   100  v1
    11  B>A  MIDDLE  103  v1
    12  B>A  MIDDLE  104  v1
    13  B>A  MIDDLE  105  v1
    14  B>A  LAST    106  v1
    24  B>A  FIRST   101  v1
    25  B>A  MIDDLE  102  v1
    26  B>A  MIDDLE  103  v1
    27  B>A  MIDDLE  104  v1
    28  B>A  MIDDLE  105  v1
    29  B>A  LAST    106  v1)");
  EXPECT_THAT(found.now,
              ElementsAre("3 response_gap 101x2 of=1", "9 response_repeated 103 of=1", "10 response_repeated 104 of=1",
                          "11 response_repeated 105 of=1", "12 response_repeated 106 of=1"));
  EXPECT_THAT(found.later, ElementsAre("3 unexplained 101", "3 unexplained 102"));
}

TEST(ResponseVerdicts, AnswerWithANewerMsnThanALaterOneIsAnotherAnswer) {
  const auto verdicts_with = [](const std::string& msn) {
    return analyse(R"(
     0  A>B  READ       100  v1  dma=600
     1  A>B  SEND_ONLY  103  v1  ar
    10  B>A  MIDDLE     101  v1
    11  B>A  LAST       102  v1  aeth.msn=7
    14  B>A  FIRST      100  v1  aeth.msn=)" +
                   msn);
  };
  EXPECT_THAT(verdicts_with("7").now, ElementsAre("3 response_gap 100 of=1", "5 response_out_of_order 100 of=1"));
  EXPECT_THAT(verdicts_with("8").now, ElementsAre("3 response_gap 100 of=1"));
}

TEST(ResponseVerdicts, AnswersToTheCopiesOfARequestAreNoCopies) {
  std::string trace;
  for (int i = 0; i < 10; ++i) {
    trace += fmt::format("{} A>B SEND_ONLY {} v1\n", i, 100 + i);
  }
  const Findings found = analyse(trace + R"(
    20.0  A>B  READ  110  v1  dma=64
    20.5  A>B  READ  110  v1  dma=64
    30.0  B>A  ONLY  110  v1
    30.5  B>A  ONLY  110  v1)");
  EXPECT_THAT(found.now,
              ElementsAre("12 duplicate 110 cause=network of=11 after=0us", "14 response_repeated 110 of=11"));
}

TEST(ResponseVerdicts, AnAnswerThatCrossesTheRetransmissionShowsThatNothingWasLost) {
  // The ACK comes by too late to stop the requester.
  const Findings found = analyse(R"(
         0  A>B  SEND_ONLY  100  ar
       500  B>A  ACK        100
      1000  A>B  SEND_ONLY  101  ar
     50990  B>A  ACK        101
     51000  A>B  SEND_ONLY  101  ar
     51500  B>A  ACK        101)");
  EXPECT_THAT(found.now, Contains(HasSubstr("5 retransmission 101 cause=timeout")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("lost"))));
}

}  // namespace
}  // namespace roce::analysis
