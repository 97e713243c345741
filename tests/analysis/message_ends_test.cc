// SPDX-License-Identifier: BSD-2-Clause
// The ends of messages whose answers the requester did not receive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;

// A-MSG-2 (a message ends with an answer that its requester can have received)
TEST(MessageEnds, EndWithTheAnswerThatTheRequesterReceived) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      400  B>A  ACK         100         # lost on its way to A
    54000  A>B  SEND_ONLY   100  ar
    54350  B>A  ACK         100
    54900  A>B  SEND_ONLY   101  ar
    55000  B>A  ACK         101)");
  EXPECT_THAT(found.later, ElementsAre("2 response_lost_after 100 of=3"));
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{54350});
  EXPECT_EQ(found.messages[0].answer, (PacketId{4, 0}));
  EXPECT_EQ(found.messages[0].retransmissions, 1U);
  EXPECT_EQ(found.messages[1].latency(), std::chrono::microseconds{100});
  EXPECT_EQ(found.messages[1].retransmissions, 0U);
  const DirectionSummary& forth = found.streams[0].directions[0];
  EXPECT_EQ(forth.latency.count(), 2U);
  EXPECT_EQ(forth.latency.max(), std::chrono::microseconds{54350});
}

TEST(MessageEnds, ThatAReadLeftUnansweredEndLater) {
  // The READ's answer was lost behind the capture point. The requester heeds nothing that came after it.
  const Findings found = analyse(R"(
        0  A>B  READ        100
        1  A>B  SEND_ONLY   101  ar
       10  B>A  ONLY        100
       11  B>A  ACK         101
    20000  A>B  READ        100
    20001  A>B  SEND_ONLY   101  ar
    20010  B>A  ONLY        100
    20011  B>A  ACK         101
    20100  A>B  SEND_ONLY   102  ar
    20110  B>A  ACK         102)");
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{20010});
  EXPECT_EQ(found.messages[1].latency(), std::chrono::microseconds{20010});
  EXPECT_EQ(found.messages[1].answer, (PacketId{8, 0}));
  EXPECT_EQ(found.messages[2].latency(), std::chrono::microseconds{10});
}

TEST(MessageEnds, OfAnAnswerThatHadTimeToArriveAndDidNotIsLater) {
  // The request that passes 101 is seen before the answer to 101, and yet that answer was lost.
  const Findings found = analyse(R"(
        0  A>B  READ        100
        1  A>B  READ        101
       10  B>A  ONLY        100         # lost on its way to A
       11  B>A  ONLY        101
       12  A>B  READ        102
       20  A>B  READ        100
       21  A>B  READ        101
       22  B>A  ONLY        102
       23  A>B  READ        102
       30  B>A  ONLY        100
       31  B>A  ONLY        101         # lost on its way to A
       33  B>A  ONLY        102
      200  A>B  READ        101
      201  A>B  READ        102
      210  B>A  ONLY        101
      211  B>A  ONLY        102)");
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[0].answer, (PacketId{10, 0}));
  EXPECT_EQ(found.messages[1].answer, (PacketId{15, 0}));
  EXPECT_EQ(found.messages[2].answer, (PacketId{16, 0}));
}

TEST(MessageEnds, AreInTheOrderOfTheMessages) {
  // The answer to 103 was under way when the requester went back for that to 101: it cannot end its message.
  const Findings found = analyse(R"(
        0  A>B  READ        100
       20  B>A  ONLY        100
       30  A>B  READ        101
       31  A>B  READ        102
       32  A>B  READ        103
       50  B>A  ONLY        101         # lost on its way to A
       51  B>A  ONLY        102
       60  B>A  ONLY        103
       61  A>B  READ        101
       62  A>B  READ        102
       63  A>B  READ        103
       81  B>A  ONLY        101
       82  B>A  ONLY        102
       83  B>A  ONLY        103)");
  ASSERT_EQ(found.messages.size(), 4U);
  EXPECT_EQ(found.messages[1].answer, (PacketId{12, 0}));
  EXPECT_EQ(found.messages[2].answer, (PacketId{13, 0}));
  EXPECT_EQ(found.messages[3].answer, (PacketId{14, 0}));
}

TEST(MessageEnds, EndOnceThoughTheirRetransmissionCrossedTheAnswer) {
  // The NAK has sent the requester back before the ACK for the late packet can have reached it.
  const Findings found = analyse(R"(
      0  A>B  SEND_ONLY     100
      1  A>B  SEND_ONLY     101  ar
     10  B>A  NAK_SEQUENCE  100
     11  B>A  ACK           101
     20  A>B  SEND_ONLY     100
     21  A>B  SEND_ONLY     101  ar
     30  B>A  ACK           101)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].answer, (PacketId{4, 0}));
  EXPECT_EQ(found.messages[1].answer, (PacketId{4, 0}));
}

TEST(MessageEnds, ThatAreSentAgainToTheEndHaveNone) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      400  B>A  ACK         100         # lost on its way to A, as is everything after it
    54000  A>B  SEND_ONLY   100  ar
   108000  A>B  SEND_ONLY   100  ar)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::open);
  EXPECT_FALSE(found.messages[0].answer);
  EXPECT_EQ(found.messages[0].retransmissions, 2U);
  EXPECT_EQ(found.streams[0].directions[0].latency.count(), 0U);
  EXPECT_EQ(found.streams[0].directions[0].goodput_bytes, 0U);
}

TEST(MessageEnds, OfARetransmissionThatWasAnsweredMeanwhile) {
  // The second ACK is under way when the requester sends again: it can have received it.
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      500  B>A  ACK         100
     1000  A>B  SEND_ONLY   101  ar
     5999  B>A  ACK         101
     6000  A>B  SEND_ONLY   101  ar
     6500  B>A  ACK         101)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[1].latency(), std::chrono::microseconds{4999});
}

TEST(MessageEnds, AreThoseOfTheLastAnswerThatWasNotLost) {
  // The answers to the first two messages are lost, then those to the second one alone.
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
        1  A>B  SEND_ONLY   101  ar
      400  B>A  ACK         100
      401  B>A  ACK         101
    54000  A>B  SEND_ONLY   100  ar
    54001  A>B  SEND_ONLY   101  ar
    54400  B>A  ACK         100
    54401  B>A  ACK         101
   108001  A>B  SEND_ONLY   101  ar
   108400  B>A  ACK         101)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{54400});
  EXPECT_EQ(found.messages[1].latency(), std::chrono::microseconds{108399});
}

TEST(MessageEnds, OfOldMessagesAreNotRevised) {
  std::string trace;
  for (int i = 0; i < 66; ++i) trace += "\n" + std::to_string(i) + " A>B SEND_ONLY " + std::to_string(100 + i) + " ar";
  trace += "\n400 B>A ACK 165";
  for (int i = 0; i < 66; ++i)
    trace += "\n" + std::to_string(54000 + i) + " A>B SEND_ONLY " + std::to_string(100 + i) + " ar";
  trace += "\n55000 B>A ACK 165";
  const Findings found = analyse(trace);
  ASSERT_EQ(found.messages.size(), 66U);
  EXPECT_EQ(found.messages[1].finish, Time{std::chrono::microseconds{400}});
  EXPECT_EQ(found.messages[2].finish, Time{std::chrono::microseconds{55000}});
}

}  // namespace
}  // namespace roce::analysis
