// SPDX-License-Identifier: BSD-2-Clause
// Verdicts on requests, and on what became of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(RequestVerdicts, NothingIsSaidOfACleanRun) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  ar
    10  B>A  ACK           100
    20  A>B  WRITE_FIRST   101  dma=640
    21  A>B  WRITE_MIDDLE  102
    22  A>B  WRITE_LAST    103  len=128 ar
    30  B>A  ACK           103
    40  A>B  READ          104  dma=640
    50  B>A  FIRST         104
    51  B>A  MIDDLE        105
    52  B>A  LAST          106  len=128
    60  A>B  FETCH_ADD     107
    70  B>A  ATOMIC_ACKNOWLEDGE 107
    80  A>B  SEND_ONLY     108  ar
    90  B>A  ACK           108)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(RequestVerdicts, LostInFrontOfTheCapturePoint) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100
     1  A>B  SEND_ONLY     102
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101
    21  A>B  SEND_ONLY     102
    30  B>A  ACK           102)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "3 nak_sequence_error 101", "4 retransmission 101 cause=nak",
                                     "5 retransmission 102 cause=nak of=2 after=20us"));
  EXPECT_THAT(found.later, ElementsAre("2 request_lost_before 101 of=3"));
}

TEST(RequestVerdicts, LostBehindTheCapturePoint) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100
     1  A>B  SEND_ONLY     101
     2  A>B  SEND_ONLY     102
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101
    21  A>B  SEND_ONLY     102
    30  B>A  ACK           102)");
  EXPECT_THAT(found.now,
              ElementsAre("4 nak_sequence_error 101 of=2 after=9us", "5 retransmission 101 cause=nak of=2 after=19us",
                          "6 retransmission 102 cause=nak of=3 after=19us"));
  EXPECT_THAT(found.later, ElementsAre("2 request_lost_after 101 of=4 after=9us"));
}

TEST(RequestVerdicts, LostInFrontBecauseItWasDamaged) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100
     1  A>B  SEND_ONLY     101  bad
     2  A>B  SEND_ONLY     102
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101
    21  A>B  SEND_ONLY     102
    30  B>A  ACK           102)");
  EXPECT_THAT(found.now,
              ElementsAre("2 bad_icrc 101", "3 gap 101", "4 nak_sequence_error 101", "5 retransmission 101 cause=nak",
                          "6 retransmission 102 cause=nak of=3 after=19us"));
  EXPECT_THAT(found.later, ElementsAre("3 request_lost_before 101 cause=corrupted of=2"));
}

TEST(RequestVerdicts, ADamagedPacketWithoutAStreamIsStillSaid) {
  const Findings found = analyse("0 A>B SEND_ONLY 100 bad");
  EXPECT_THAT(found.now, ElementsAre("1 bad_icrc 100"));
  EXPECT_THAT(found.streams, IsEmpty());
  EXPECT_EQ(found.packets[0].stream, kNoStream);
}

TEST(RequestVerdicts, LateBehindTheCapturePoint) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  ar
    10  B>A  ACK           100
    20  A>B  SEND_ONLY     101  ar
    21  A>B  SEND_ONLY     102  ar
    31  B>A  NAK_SEQUENCE  101
    33  B>A  ACK           101
    45  A>B  SEND_ONLY     102  ar
    55  B>A  ACK           102)");
  EXPECT_THAT(found.now, ElementsAre("5 nak_sequence_error 101 of=3 after=11us",
                                     "7 retransmission 102 cause=nak of=4 after=24us"));
  EXPECT_THAT(found.later, ElementsAre("3 request_late_after 101 of=5 after=2us"));
}

TEST(RequestVerdicts, OvertakenAndNotLost) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  id=1
     2  A>B  SEND_ONLY  102  id=3
     3  A>B  SEND_ONLY  101  id=2
     4  A>B  SEND_ONLY  103  id=4 ar
    10  B>A  ACK        103)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "3 out_of_order 101 of=2 after=1us"));
  EXPECT_THAT(found.later, ElementsAre("2 reordered 101"));
}

TEST(RequestVerdicts, OvertakenIsKnownByTimeWhereIdentificationsDoNotTell) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  id=0
     2  A>B  SEND_ONLY  102  id=0
     3  A>B  SEND_ONLY  101  id=0
     4  A>B  SEND_ONLY  103  id=0 ar
    10  B>A  ACK        103)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "3 out_of_order 101 of=2 after=1us"));
  EXPECT_THAT(found.later, ElementsAre("2 reordered 101"));
}

TEST(RequestVerdicts, IdentificationsThatBeginAgainInEachSuperFrameTellNothing) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  id=0
     1  A>B  SEND_ONLY     101  id=1
     2  A>B  SEND_ONLY     102  id=2 ar
     5  B>A  ACK           102
    10  A>B  SEND_ONLY     103  id=0
    11  A>B  SEND_ONLY     105  id=2
    20  B>A  NAK_SEQUENCE  104
    30  A>B  SEND_ONLY     104  id=0
    31  A>B  SEND_ONLY     105  id=1 ar
    40  B>A  ACK           105)");
  EXPECT_THAT(found.now, ElementsAre("6 gap 104", "7 nak_sequence_error 104", "8 retransmission 104 cause=nak",
                                     "9 retransmission 105 cause=nak of=6 after=20us"));
  EXPECT_THAT(found.later, ElementsAre("6 request_lost_before 104 of=7"));
}

TEST(RequestVerdicts, WhatWasAnsweredWasNotOnlyOvertaken) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  id=0
     2  A>B  SEND_ONLY  102  id=0 ar
    10  B>A  ACK        102
    12  A>B  SEND_ONLY  101  id=0
    13  A>B  SEND_ONLY  102  id=0 ar)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "4 retransmission 101 cause=unknown spurious",
                                     "5 retransmission 102 cause=unknown of=2 after=11us spurious"));
  EXPECT_THAT(found.later, ElementsAre("2 missed_by_capture 101 of=3"));
}

TEST(RequestVerdicts, OnlyTheCaptureMissedIt) {
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY  100
      1  A>B  SEND_ONLY  102  ar
     10  B>A  ACK        102
    500  A>B  SEND_ONLY  103  ar
    510  B>A  ACK        103)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101"));
  EXPECT_THAT(found.later, ElementsAre("2 missed_by_capture 101 of=3"));
  EXPECT_EQ(found.streams[0].missed_psns, 1U);
  EXPECT_EQ(found.streams[0].lost_psns, 0U);
}

TEST(RequestVerdicts, WhatIsNeverExplainedIsSaidToBeSo) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  105)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101x4"));
  EXPECT_THAT(found.later, ElementsAre("2 unexplained 101x4 cause=unknown"));
}

TEST(RequestVerdicts, SentAgainAfterReceiverNotReady) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100
      10  B>A  RNR        100
    1400  A>B  SEND_ONLY  100
    1410  B>A  ACK        100)");
  EXPECT_THAT(found.now,
              ElementsAre("2 rnr_nak 100 of=1 after=1280us", "3 retransmission 100 cause=rnr of=1 after=1400us"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(RequestVerdicts, NothingWasHeardOfIt) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  ACK        100
      20  A>B  SEND_ONLY  101
      21  A>B  SEND_ONLY  102  ar
    5021  A>B  SEND_ONLY  101
    5022  A>B  SEND_ONLY  102  ar
    5030  B>A  ACK        102)");
  EXPECT_THAT(found.now, ElementsAre("5 retransmission 101 cause=timeout of=3 after=5001us",
                                     "6 retransmission 102 cause=timeout of=4 after=5001us"));
  EXPECT_THAT(found.later, ElementsAre("4 lost_beyond 101x2 of=5"));
}

TEST(RequestVerdicts, SentForTheLastTime) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY  100  ar
       10  B>A  ACK        100
       20  A>B  SEND_ONLY  101  ar
     5020  A>B  SEND_ONLY  101  ar
    10020  A>B  SEND_ONLY  101  ar)");
  EXPECT_THAT(found.now, ElementsAre("4 retransmission 101 cause=timeout of=3 after=5000us",
                                     "5 retransmission 101 cause=timeout of=4 after=5000us"));
  EXPECT_THAT(found.later, ElementsAre("3 lost_beyond 101 of=4", "4 lost_beyond 101 of=5",
                                       "5 no_answer 101 of=3 after=10000us tries=3 ack_timeout=10"));
}

TEST(RequestVerdicts, TheEndOfTheCaptureIsNotTheEndOfTheConnection) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY  100  ar
       10  B>A  ACK        100
       20  A>B  SEND_ONLY  101  ar)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
}

TEST(RequestVerdicts, SentAgainTooSoonForAnyTimeout) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  ACK        100
      20  A>B  SEND_ONLY  101  ar
      60  A>B  SEND_ONLY  101  ar
      70  B>A  ACK        101)");
  EXPECT_THAT(found.now, ElementsAre("4 retransmission 101 cause=unknown of=3 after=40us"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(RequestVerdicts, ACopyIsNotARetransmission) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  id=1
       1  A>B  SEND_ONLY  101  id=2
       2  A>B  SEND_ONLY  101  id=2
       3  A>B  SEND_ONLY  102  id=3 ar
      10  B>A  ACK        102)");
  EXPECT_THAT(found.now, ElementsAre("3 duplicate 101 cause=unknown of=2 after=1us"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(RequestVerdicts, OneCopyOfManyPacketsIsMadeByTheNetwork) {
  std::string trace;
  for (int i = 0; i < 20; ++i)
    trace += "\n" + std::to_string(i) + " A>B SEND_ONLY " + std::to_string(100 + i) + " id=" + std::to_string(i);
  trace += "\n20 A>B SEND_ONLY 119 id=19\n30 B>A ACK 119";
  EXPECT_THAT(analyse(trace).now, ElementsAre("21 duplicate 119 cause=network of=20 after=1us"));
}

TEST(RequestVerdicts, CopiesOfEveryPacketAreMadeByTheCapture) {
  // A mirror before a router and after it: each packet is captured twice, the second time with one hop less.
  std::string trace;
  for (int i = 0; i < 10; ++i) {
    const std::string packet = " A>B SEND_ONLY " + std::to_string(100 + i) + " id=" + std::to_string(i);
    trace += "\n" + std::to_string(10 * i) + packet + " ttl=64\n" + std::to_string(10 * i + 2) + packet + " ttl=63";
  }
  const Findings found = analyse(trace);
  ASSERT_EQ(found.now.size(), 10U);
  EXPECT_EQ(found.now.back(), "20 duplicate 109 cause=capture of=19 after=2us");
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(RequestVerdicts, CongestionMarksAndNotifications) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100
       1  A>B  SEND_ONLY  101  ce
       5  B>A  CNP        0
      10  B>A  ACK        101)");
  EXPECT_THAT(found.now, ElementsAre("2 ce_mark 101", "3 cnp 0"));
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_EQ(found.streams.size(), 1U) << "a CNP belongs to the connection that it slows down";
}

TEST(RequestVerdicts, AcrossTheWrapOfThePsn) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     16777213
     1  A>B  SEND_ONLY     16777214
     2  A>B  SEND_ONLY     1
    10  B>A  NAK_SEQUENCE  16777215
    20  A>B  SEND_ONLY     16777215
    21  A>B  SEND_ONLY     0
    22  A>B  SEND_ONLY     1  ar
    30  B>A  ACK           1)");
  EXPECT_THAT(found.now,
              ElementsAre("3 gap 16777215x2", "4 nak_sequence_error 16777215", "5 retransmission 16777215 cause=nak",
                          "6 retransmission 0 cause=nak", "7 retransmission 1 cause=nak of=3 after=20us"));
  EXPECT_THAT(found.later, ElementsAre("3 request_lost_before 16777215 of=4", "3 request_lost_before 0 of=4"));
  EXPECT_EQ(found.packets[2].relative_psn, 4);
  EXPECT_EQ(found.packets[7].relative_psn, 4);
}

TEST(RequestVerdicts, DamagedPacketAndTheOneThatArrivedInItsPlace) {
  // The acknowledged packet is another transmission, which the capture does not have.
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY  100
      1  A>B  SEND_ONLY  101  bad
      2  A>B  SEND_ONLY  102  ar
     12  B>A  ACK        102
    500  A>B  SEND_ONLY  103  ar
    510  B>A  ACK        103)");
  EXPECT_THAT(found.later,
              ElementsAre("3 request_lost_before 101 cause=corrupted of=2", "3 missed_by_capture 101 of=4"));
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_EQ(found.streams[0].lost_psns, 1U);
  EXPECT_EQ(found.streams[0].missed_psns, 1U);
}

TEST(RequestVerdicts, DamagedPacketSpeaksForItsOwnPsnOnly) {
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY  100
      1  A>B  SEND_ONLY  102  bad
      2  A>B  SEND_ONLY  103  ar
     12  B>A  ACK        101
     22  B>A  ACK        103
    500  A>B  SEND_ONLY  104  ar
    510  B>A  ACK        104)");
  EXPECT_THAT(found.later, ElementsAre("3 missed_by_capture 101 of=4", "3 request_lost_before 102 cause=corrupted of=2",
                                       "3 missed_by_capture 102 of=5"));
}

TEST(RequestVerdicts, DamagedPacketInsideAGapThatOneAckCovers) {
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY  100
      1  A>B  SEND_ONLY  102  bad
      2  A>B  SEND_ONLY  104  ar
     22  B>A  ACK        104
    500  A>B  SEND_ONLY  105  ar
    510  B>A  ACK        105)");
  EXPECT_THAT(found.later, ElementsAre("3 missed_by_capture 101 of=4", "3 request_lost_before 102 cause=corrupted of=2",
                                       "3 missed_by_capture 102 of=4", "3 missed_by_capture 103 of=4"));
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_EQ(found.streams[0].lost_psns, 1U);
  EXPECT_EQ(found.streams[0].missed_psns, 3U);
}

TEST(RequestVerdicts, DamageIsTheCauseOfTheLossOfItsOwnPsnOnly) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100
     1  A>B  SEND_ONLY     102  bad
     2  A>B  SEND_ONLY     103
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101
    21  A>B  SEND_ONLY     102
    22  A>B  SEND_ONLY     103  ar
    30  B>A  ACK           103)");
  EXPECT_THAT(found.later,
              UnorderedElementsAre("3 request_lost_before 101 of=4", "3 request_lost_before 102 cause=corrupted of=2"));
}

TEST(RequestVerdicts, AReadRequestIsOneLostPacket) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  dma=1024
     5  B>A  FIRST         100
     6  B>A  MIDDLE        101
     7  B>A  MIDDLE        102
     8  B>A  LAST          103
    10  A>B  READ_REQUEST  108  dma=1024
    20  B>A  NAK_SEQUENCE  104
    30  A>B  READ_REQUEST  104  dma=1024
    31  A>B  READ_REQUEST  108  dma=1024)");
  EXPECT_THAT(found.later, testing::Contains("6 request_lost_before 104x4 of=7"));
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_EQ(found.streams[0].lost_psns, 4U);
  EXPECT_EQ(found.streams[0].lost_packets, 1U);
}

TEST(RequestVerdicts, AMessageOrItsAnswerIsOneLostPacket) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY    100  ar
      10  B>A  ACK          100
      20  A>B  SEND_FIRST   101
      21  A>B  SEND_MIDDLE  102
      22  A>B  SEND_LAST    103  ar
   70000  A>B  SEND_FIRST   101
   70001  A>B  SEND_MIDDLE  102
   70002  A>B  SEND_LAST    103  ar
   70012  B>A  ACK          103)");
  EXPECT_THAT(found.later, ElementsAre("5 lost_beyond 101x3 of=6"));
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_EQ(found.streams[0].lost_packets, 1U);
}

// RoCE v1, so no identification shows which packet was sent first.
TEST(RequestVerdicts, LateByARoundTripMayHaveBeenSentAgain) {
  const auto late_by = [](int microseconds) {
    return analyse(R"(
     0  A>B  SEND_ONLY  100  v1  ar
     5  B>A  ACK        100  v1
    10  A>B  SEND_ONLY  101  v1
    11  A>B  SEND_ONLY  103  v1
    )" + std::to_string(11 + microseconds) +
                   "  A>B  SEND_ONLY  102  v1");
  };
  EXPECT_THAT(late_by(4).now, ElementsAre("4 gap 102", "5 out_of_order 102 of=4 after=4us"));
  EXPECT_THAT(late_by(4).later, ElementsAre("4 reordered 102"));
  EXPECT_THAT(late_by(5).now, ElementsAre("4 gap 102"));
  EXPECT_THAT(late_by(5).later, ElementsAre("4 unexplained 102"));
}

}  // namespace
}  // namespace roce::analysis
