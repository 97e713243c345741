// SPDX-License-Identifier: BSD-2-Clause
// Packets that were under way when the requester went back: overtaken requests, answers of the turn before, and the
// reasons of go-backs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OvertakenRequests, ANewOneAmongThoseThatAreSentAgainLeavesNothingOut) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100
     1  A>B  WRITE_MIDDLE  101
     2  A>B  WRITE_MIDDLE  102
     3  A>B  WRITE_MIDDLE  103
     4  A>B  WRITE_MIDDLE  104
     5  A>B  WRITE_MIDDLE  105
    10  B>A  NAK_SEQUENCE  100
    20  A>B  WRITE_FIRST   100  id=8
    21  A>B  WRITE_MIDDLE  101  id=9
    22  A>B  WRITE_MIDDLE  106  id=7   # sent before the two
    23  A>B  WRITE_MIDDLE  102  id=10
    24  A>B  WRITE_MIDDLE  103  id=11)");
  EXPECT_THAT(found.now, Contains("10 out_of_order 106 of=8 after=2us"));
  EXPECT_THAT(found.now, Not(Contains(HasSubstr(" gap "))));
  EXPECT_THAT(found.now, Contains(HasSubstr("11 retransmission 102 cause=nak")));
  EXPECT_THAT(found.later, Contains(HasSubstr("1 request_lost_after 100")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("unexplained"))));
}

TEST(OvertakenRequests, FarAheadOfAGoBackThatHasJustBegunIsOvertakenWithoutIdentifications) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100  v6
     1  A>B  WRITE_MIDDLE  101  v6
     2  A>B  WRITE_MIDDLE  102  v6
     3  A>B  WRITE_MIDDLE  103  v6
     4  A>B  WRITE_MIDDLE  104  v6
     5  A>B  WRITE_MIDDLE  105  v6
     6  A>B  WRITE_MIDDLE  106  v6
     7  A>B  WRITE_MIDDLE  108  v6
    10  B>A  NAK_SEQUENCE  100  v6
    20  A>B  WRITE_FIRST   100  v6
    21  A>B  WRITE_MIDDLE  101  v6
    22  A>B  WRITE_MIDDLE  107  v6   # was missing before the go-back
    23  A>B  WRITE_MIDDLE  109  v6
    24  A>B  WRITE_MIDDLE  102  v6)");
  EXPECT_THAT(found.now, Contains(HasSubstr("12 out_of_order 107")));
  EXPECT_THAT(found.now, Contains(HasSubstr("13 out_of_order 109")));
  EXPECT_THAT(found.now, Contains(HasSubstr("14 retransmission 102 cause=nak")));
  EXPECT_EQ(
      std::ranges::count_if(found.now, [](const std::string& each) { return each.find(" gap ") != std::string::npos; }),
      1);
  EXPECT_THAT(found.later, Contains("8 reordered 107"));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("request_lost_before"))));
}

TEST(OvertakenRequests, OneOfAnInterruptedGoBackIsNeitherACopyNorTheBeginOfAnother) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100
     1  A>B  WRITE_MIDDLE  101
     2  A>B  WRITE_MIDDLE  102
     3  A>B  WRITE_LAST    103  ar
    10  B>A  NAK_SEQUENCE  100
    20  A>B  WRITE_FIRST   100  id=5
    21  A>B  WRITE_MIDDLE  101  id=6
    22  A>B  WRITE_MIDDLE  102  id=7
    23  B>A  NAK_SEQUENCE  101
    30  A>B  WRITE_MIDDLE  101  id=9
    31  A>B  WRITE_LAST    103  id=8 ar  # of the go-back before
    32  A>B  WRITE_MIDDLE  102  id=10
    33  A>B  WRITE_LAST    103  id=11 ar)");
  EXPECT_THAT(found.now, Contains(HasSubstr("11 out_of_order 103")));
  EXPECT_THAT(found.now, Contains(HasSubstr("11 retransmission 103 cause=nak of=4")));
  EXPECT_THAT(found.now, Contains(HasSubstr("12 retransmission 102 cause=nak")));
  EXPECT_THAT(found.now, Contains(HasSubstr("13 retransmission 103 cause=nak of=11")));
}

TEST(OvertakenRequests, ANakThatComesAtOnceIsAboutTheTransmissionBefore) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     99   ar
    20  B>A  ACK           99
    30  A>B  SEND_ONLY     100  ar
    31  A>B  SEND_ONLY     101  ar
    32  A>B  SEND_ONLY     102  ar
    50  B>A  NAK_SEQUENCE  100
    60  A>B  SEND_ONLY     100  ar
    61  A>B  SEND_ONLY     101  ar
    62  B>A  ACK           100
    63  B>A  NAK_SEQUENCE  101        # there was no time for an answer to packet 8
    80  A>B  SEND_ONLY     101  ar)");
  EXPECT_THAT(found.later, Contains(HasSubstr("3 request_late_after 100")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("_after 101"))));
}

TEST(GoBacks, AfterSilenceTheCauseIsTheTimeout) {
  const Findings found = analyse(R"(
         0  A>B  SEND_ONLY     100  ar
         1  A>B  SEND_ONLY     101  ar
        10  B>A  NAK_SEQUENCE  100      # lost on its way
     67000  A>B  SEND_ONLY     100  ar
     67001  A>B  SEND_ONLY     101  ar
     67010  B>A  ACK           101)");
  EXPECT_THAT(found.now, ElementsAre("3 nak_sequence_error 100 of=1 after=10us",
                                     "4 retransmission 100 cause=timeout of=1 after=67000us",
                                     "5 retransmission 101 cause=timeout of=2 after=67000us"));
  EXPECT_THAT(found.later, ElementsAre(HasSubstr("1 request_lost_after 100")));
  const Findings at_once = analyse(R"(
         0  A>B  SEND_ONLY     100  ar
         1  A>B  SEND_ONLY     101  ar
        10  B>A  NAK_SEQUENCE  100
       510  A>B  SEND_ONLY     100  ar)");
  EXPECT_THAT(at_once.now, Contains(HasSubstr("4 retransmission 100 cause=nak")));
}

// A-ORD-5 (an ACK timeout runs out in silence)
TEST(GoBacks, WithoutSilenceTheCauseIsNoTimeout) {
  const auto cause_after = [](const std::string& before) {
    return analyse(R"(
         0  A>B  SEND_ONLY  100  ar id=0
        10  B>A  ACK        100
        20  A>B  SEND_ONLY  101  id=0
        30  A>B  SEND_ONLY  102  id=0)" +
                   before + R"(
      5000  A>B  SEND_ONLY  101  id=0)")
        .now;
  };
  EXPECT_THAT(cause_after(""), Contains(HasSubstr("retransmission 101 cause=timeout")));
  EXPECT_THAT(cause_after("\n4750 A>B SEND_ONLY 103 id=0"), Contains(HasSubstr("retransmission 101 cause=unknown")));
  EXPECT_THAT(cause_after("\n4750 B>A ACK 100"), Contains(HasSubstr("retransmission 101 cause=unknown")));
}

TEST(GoBacks, ASilenceMuchShorterThanTheOneBeforeIsNoTimeout) {
  const Findings found = analyse(R"(
         0  A>B  SEND_ONLY  100  ar id=0
        10  B>A  ACK        100
        20  A>B  SEND_ONLY  101  ar id=0
     67020  A>B  SEND_ONLY  101  ar id=0
     67030  B>A  ACK        101
     67040  A>B  SEND_ONLY  102  ar id=0
     72040  A>B  SEND_ONLY  102  ar id=0
     72050  B>A  ACK        102)");
  EXPECT_THAT(found.now, ElementsAre(HasSubstr("4 retransmission 101 cause=timeout"),
                                     HasSubstr("7 retransmission 102 cause=unknown")));
}

// Soft-RoCE in a busy guest needs milliseconds, which is no timeout, as long as none so short was seen.
TEST(GoBacks, ASlowReactionToANakIsNoTimeout) {
  const Findings slow = analyse(R"(
         0  A>B  SEND_ONLY     100  ar
        10  B>A  NAK_SEQUENCE  100
      6010  A>B  SEND_ONLY     100  ar)");
  EXPECT_THAT(slow.now, Contains(HasSubstr("3 retransmission 100 cause=nak")));
  const Findings timed = analyse(R"(
         0  A>B  SEND_ONLY     100  ar
        10  B>A  ACK           100
        20  A>B  SEND_ONLY     101  ar
      4116  A>B  SEND_ONLY     101  ar    # its ACK timeout is 4 ms
      4126  B>A  ACK           101
      5000  A>B  SEND_ONLY     102  ar
      5010  B>A  NAK_SEQUENCE  102
      9110  A>B  SEND_ONLY     102  ar)");
  EXPECT_THAT(timed.now, Contains(HasSubstr("4 retransmission 101 cause=timeout")));
  EXPECT_THAT(timed.now, Contains(HasSubstr("8 retransmission 102 cause=timeout")));
}

TEST(GoBacks, AfterSilenceAPassedReadIsRequestedAgainBecauseOfTheTimeout) {
  const Findings found = analyse(R"(
         0  A>B  READ_REQUEST  100  ar dma=64
         1  A>B  SEND_ONLY     101  ar
        10  B>A  ACK           101      # the answer was lost, and so is this
     67000  A>B  READ_REQUEST  100  ar dma=64
     67001  A>B  SEND_ONLY     101  ar)");
  EXPECT_THAT(found.now, Contains(HasSubstr("4 retransmission 100 cause=timeout")));
}

TEST(Reads, LateResponsesOfTheAnswerBeforeAreNoGapInTheNewOne) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=1280
    10  B>A  FIRST         100  id=1
    11  B>A  MIDDLE        101  id=2
    12  B>A  LAST          104  id=5
    20  A>B  READ_REQUEST  100  ar dma=1280
    30  B>A  FIRST         100  id=6
    31  B>A  MIDDLE        102  id=3
    32  B>A  MIDDLE        103  id=4
    33  B>A  MIDDLE        101  id=7
    34  B>A  MIDDLE        102  id=8
    35  B>A  MIDDLE        103  id=9
    36  B>A  LAST          104  id=10)");
  EXPECT_THAT(found.now, Contains(HasSubstr("4 response_gap 102x2")));
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("7 response_gap"))));
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("response_out_of_order"))));
  EXPECT_THAT(found.later, Contains("4 unexplained 102x2"));
}

TEST(Reads, TheLastPacketOfAnAnswerTellsThePathMtu) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=320
    10  B>A  LAST          101  len=64)");
  EXPECT_THAT(found.now, ElementsAre("2 response_gap 100 of=1"));
}

TEST(Reads, OneThatWasNotSeenIsMissedByTheCaptureAsAWhole) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=512
    10  B>A  FIRST         100
    11  B>A  LAST          101  len=256
    20  A>B  SEND_ONLY     106  ar            # before it, a READ of four packets
    30  B>A  FIRST         102
    31  B>A  MIDDLE        103
    32  B>A  LAST          105  len=256
    40  A>B  READ_REQUEST  104  ar dma=512
    50  B>A  FIRST         104
    51  B>A  LAST          105  len=256
    60  A>B  READ_REQUEST  105  ar dma=256
    70  B>A  ONLY          105  len=256
    80  B>A  ACK           106)");
  EXPECT_THAT(found.later, Contains(HasSubstr("missed_by_capture 104")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("unexplained 105"))));
}

TEST(FirstPackets, OneThatWasLostIsSaidAndTheDirectionsAreJoined) {
  const Findings found = analyse(R"(
     1  A>B  SEND_ONLY     101  ar
     2  A>B  SEND_ONLY     102  ar
    10  B>A  NAK_SEQUENCE  100
    20  A>B  SEND_ONLY     100  ar
    21  A>B  SEND_ONLY     101  ar
    22  A>B  SEND_ONLY     102  ar
    30  B>A  ACK           102)");
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_TRUE(found.streams[0].joined);
  EXPECT_THAT(found.now, Contains(HasSubstr("4 retransmission 100 cause=nak")));
  EXPECT_THAT(found.later, ElementsAre("1 request_lost_before 100 of=3"));
}

TEST(FirstPackets, OneThatIsSentAgainAfterATimeoutWasLost) {
  constexpr std::string_view set_up = R"(
         0  A>B  UD_SEND_ONLY  1  qp=1 headers=cm_req mad.mgmt_class=7 mad.attribute_id=0x10 cm_req.local_comm_id=71 cm_req.local_qpn=0x11 cm_req.path_mtu=3
         0  B>A  UD_SEND_ONLY  1  qp=1 headers=cm_rep mad.mgmt_class=7 mad.attribute_id=0x13 cm_rep.local_comm_id=81 cm_rep.remote_comm_id=71 cm_rep.local_qpn=0x22)";
  constexpr std::string_view traffic = R"(
         1  A>B  SEND_ONLY  101  ar
     67000  A>B  SEND_ONLY  100  ar
     67001  A>B  SEND_ONLY  101  ar
     67010  B>A  ACK        101)";
  const Findings found = analyse(std::string{set_up} + std::string{traffic});
  EXPECT_THAT(found.now, Contains(HasSubstr("4 retransmission 100")));
  EXPECT_THAT(found.now, Contains(HasSubstr("5 retransmission 101")));
  EXPECT_THAT(found.later, ElementsAre("3 request_lost_before 100"));
  // Without its set-up the connection may be older than the capture.
  EXPECT_THAT(analyse(traffic).later, Not(Contains(HasSubstr("lost"))));
}

TEST(FirstPackets, OneThatANakNamesWasLostWithoutUdpPortsToo) {
  const Findings found = analyse(R"(
         1  A>B  SEND_ONLY     101  v1 ar
        10  B>A  NAK_SEQUENCE  100  v1
        20  A>B  SEND_ONLY     100  v1 ar
        21  A>B  SEND_ONLY     101  v1 ar
        30  B>A  ACK           101  v1 aeth.msn=2)");
  EXPECT_THAT(found.now, Contains(HasSubstr("3 retransmission 100 cause=nak")));
  EXPECT_THAT(found.later, Contains(HasSubstr("1 request_lost_before 100")));
  EXPECT_EQ(found.streams.size(), 1U);
}

TEST(FirstPackets, OnesThatANakNamesWereLostIfNoMessageWasCompletedBefore) {
  const auto nacked = [](int messages) {
    return analyse(fmt::format(R"(
         1  A>B  SEND_ONLY     101  ar
        10  B>A  NAK_SEQUENCE  100  aeth.msn={}
        20  A>B  SEND_ONLY     100  ar
        21  A>B  SEND_ONLY     101  ar
        30  B>A  ACK           101  aeth.msn={})",
                               messages, messages + 2));
  };
  EXPECT_THAT(nacked(0).later, Contains(HasSubstr("1 request_lost_before 100")));
  EXPECT_THAT(nacked(3).later, Not(Contains(HasSubstr("lost"))));
}

TEST(FirstPackets, OneThatWasSentBeforeTheCaptureBeganIsNotLostIfLaterOnesAreAcknowledged) {
  const Findings found = analyse(R"(
         1  A>B  SEND_ONLY  101  ar
        10  B>A  ACK        101      # lost: the requester has no answer to 100 either
     67000  A>B  SEND_ONLY  100  ar
     67001  A>B  SEND_ONLY  101  ar
     67010  B>A  ACK        101)");
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("request_lost_before"))));
}

TEST(FirstPackets, OneThatWasOvertakenIsNeitherSentAgainNorMissed) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   101  id=2
     1  A>B  READ_REQUEST  100  id=1 ar dma=64
     2  A>B  WRITE_LAST    102  id=3 ar
    10  B>A  NAK_SEQUENCE  100
    11  B>A  ONLY          100
    20  A>B  WRITE_FIRST   101  id=4
    21  A>B  WRITE_LAST    102  id=5 ar
    30  B>A  ACK           102)");
  EXPECT_THAT(found.now, Contains("2 out_of_order 100 of=1 after=1us"));
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("2 retransmission"))));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("missed_by_capture"))));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("request_lost"))));
}

TEST(FirstPackets, ANakOfAnotherPortIsNotJoined) {
  const Findings found = analyse(R"(
     1  A>B  SEND_ONLY     101  ar
     2  A>B  SEND_ONLY     102  ar
    10  B>A  NAK_SEQUENCE  100  port=50000)");
  EXPECT_EQ(found.streams.size(), 2U);
}

TEST(Reads, OneThatIsRequestedAgainAndLostIsNotALostResponse) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=512
     1  A>B  READ_REQUEST  102  ar dma=64
    10  B>A  FIRST         100           # the second part is lost
    11  B>A  ONLY          102
    20  A>B  READ_REQUEST  101  ar dma=256
    21  A>B  READ_REQUEST  102  ar dma=64  # lost behind the capture point
    30  B>A  ONLY          101  len=256
    40  A>B  READ_REQUEST  103  ar dma=64
    50  B>A  ONLY          103
    60  A>B  READ_REQUEST  102  ar dma=64
    61  A>B  READ_REQUEST  103  ar dma=64)");
  EXPECT_THAT(found.later, Contains(HasSubstr("response_lost_before 101")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("response_lost_before 102"))));
}

TEST(Reads, AnswersOfARequestThatWasNotSeenGoOnAfterTheNextRequest) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=512
    10  B>A  FIRST         100
    11  B>A  LAST          101  len=256
    20  B>A  FIRST         102           # its request is not in the capture
    21  B>A  MIDDLE        103
    22  A>B  READ_REQUEST  102  ar dma=1280
    23  B>A  MIDDLE        104           # still of the request before
    24  B>A  MIDDLE        105
    25  B>A  LAST          106  len=256
    40  B>A  FIRST         102
    41  B>A  MIDDLE        103
    42  B>A  MIDDLE        104
    43  B>A  MIDDLE        105
    44  B>A  LAST          106  len=256)");
  for (const std::string& each : found.now) {
    EXPECT_THAT(each, Not(HasSubstr("response_gap")));
    EXPECT_THAT(each, Not(HasSubstr("response_out_of_order")));
    EXPECT_THAT(each, Not(HasSubstr("ack_of_unseen 10 4")));
  }
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("7 ack_of_unseen"))));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("reordered"))));
}

TEST(Reads, AnotherReadThatComesLateEndsTheOneWhoseLengthIsAGuess) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=1024 v6
     1  A>B  READ_REQUEST  116  ar dma=64 v6
     2  A>B  READ_REQUEST  102  ar dma=7168 v6   # overtaken by the one before
    10  B>A  FIRST         100  len=512 v6
    11  B>A  LAST          101  len=512 v6)");
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("retransmission"))));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("missed_by_capture"))));
}

TEST(Reads, AHoleAfterAReadWhoseLengthIsAGuessIsFilledByOneRead) {
  const Findings found = analyse(R"(
     0  A>B  READ_REQUEST  100  ar dma=512
     1  A>B  READ_REQUEST  104  ar dma=64          # 101 to 103 are one READ, and lost
    10  B>A  ONLY          100  len=512
    11  B>A  NAK_SEQUENCE  101
    20  A>B  READ_REQUEST  101  ar dma=3072
    21  A>B  READ_REQUEST  104  ar dma=64
    30  B>A  FIRST         101  len=1024
    31  B>A  MIDDLE        102  len=1024
    32  B>A  LAST          103  len=1024
    33  B>A  ONLY          104)");
  EXPECT_THAT(found.later, Contains(HasSubstr("request_lost_before")));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("missed_by_capture"))));
}

TEST(Reads, ASecondHoleInAnAnswerAfterTheDirectionsWereJoinedIsSaid) {
  const Findings found = analyse(R"(
     0  B>A  SEND_ONLY     500  ar
     1  A>B  READ_REQUEST  100  ar dma=1280
    10  B>A  FIRST         100
    11  B>A  MIDDLE        102             # 101 is lost
    12  B>A  MIDDLE        103
    20  A>B  READ_REQUEST  101  ar dma=1024
    30  B>A  FIRST         101
    31  B>A  MIDDLE        102
    32  B>A  LAST          104  len=256    # 103 is lost)");
  EXPECT_THAT(found.now, Contains(HasSubstr("response_gap 101")));
  EXPECT_THAT(found.now, Contains(HasSubstr("response_gap 103")));
}

TEST(NewConnections, AMessageThatWasNotSeenAmongKnownOnesBeginsNone) {
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY    100  ar
      1  A>B  SEND_ONLY    102  ar
     10  B>A  ACK          102
    500  A>B  SEND_ONLY    100  ar
    501  A>B  SEND_ONLY    101  ar
    502  A>B  SEND_ONLY    102  ar)");
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("new_connection"))));
  EXPECT_EQ(found.streams.size(), 1U);
}

}  // namespace
}  // namespace roce::analysis
