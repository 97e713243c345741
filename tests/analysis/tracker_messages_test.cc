// SPDX-License-Identifier: BSD-2-Clause
// The packets that make up messages, and the ends of messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Messages, HaveTypeBytesAndLatency) {
  const Findings found = analyse(R"(
     0  A>B  SEND_FIRST            100
     1  A>B  SEND_MIDDLE           101
     2  A>B  SEND_LAST_IMM         102  len=10 ar
    12  B>A  ACK                   102
    20  A>B  SEND_ONLY_INVALIDATE  103  len=5 ar
    25  B>A  ACK                   103
    30  A>B  READ                  104  dma=512
    40  B>A  FIRST                 104
    41  B>A  LAST                  105  len=256
    50  A>B  COMPARE_SWAP          106
    53  B>A  ATOMIC_ACKNOWLEDGE    106
    60  A>B  WRITE_ONLY            107  len=8 dma=8 ar
    66  B>A  ACK                   107)");
  ASSERT_EQ(found.messages.size(), 5U);
  const Message& send = found.messages[0];
  EXPECT_EQ(send.type, MessageType::send);
  EXPECT_EQ(send.bytes, 522U);
  EXPECT_EQ(send.psn_count, 3U);
  EXPECT_EQ(send.first_psn, Psn{100});
  EXPECT_EQ(send.latency(), std::chrono::microseconds{12});
  EXPECT_TRUE(send.has_immediate);
  EXPECT_FALSE(send.has_invalidate);
  EXPECT_EQ(send.end, MessageEnd::acknowledged);
  EXPECT_EQ(send.number, 1U);
  EXPECT_EQ(send.first, (PacketId{1, 0}));
  EXPECT_EQ(send.last, (PacketId{3, 0}));
  EXPECT_EQ(send.answer, (PacketId{4, 0}));
  EXPECT_TRUE(found.messages[1].has_invalidate);
  EXPECT_EQ(found.messages[2].type, MessageType::read);
  EXPECT_EQ(found.messages[2].bytes, 512U);
  EXPECT_EQ(found.messages[2].psn_count, 2U);
  EXPECT_EQ(found.messages[2].latency(), std::chrono::microseconds{11});
  EXPECT_EQ(found.messages[3].type, MessageType::atomic);
  EXPECT_EQ(found.messages[4].type, MessageType::write);
  EXPECT_EQ(found.messages[4].number, 5U);
  EXPECT_EQ(found.packets[2].message, 1U);
  EXPECT_EQ(found.packets[2].message_first, (PacketId{1, 0}));
  EXPECT_EQ(found.packets[4].message, 2U);
  const DirectionSummary& forth = found.streams[0].directions[0];
  EXPECT_EQ(forth.messages[static_cast<std::size_t>(MessageType::send)], 2U);
  EXPECT_EQ(forth.goodput_bytes, 522U + 5U + 512U + 8U + found.messages[3].bytes);
  EXPECT_EQ(forth.latency.count(), 5U);
}

TEST(Messages, OneAcknowledgementCompletesSeveral) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  101
     2  A>B  SEND_ONLY  102  ar
    10  B>A  ACK        102)");
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[1].latency(), std::chrono::microseconds{9});
  EXPECT_EQ(found.messages[1].start, Time{std::chrono::microseconds{1}});
}

TEST(Messages, CountTheirRetransmissions) {
  const Findings found = analyse(R"(
     0  A>B  SEND_FIRST  100
     1  A>B  SEND_LAST   101  ar
    10  B>A  NAK_SEQUENCE 100
    20  A>B  SEND_FIRST  100
    21  A>B  SEND_LAST   101  ar
    30  B>A  ACK         101)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].retransmissions, 2U);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{30});
}

TEST(Messages, OfUcAreSent) {
  const Findings found = analyse(R"(
     0  A>B  UC_WRITE_FIRST  100  dma=300
     1  A>B  UC_WRITE_LAST   101  len=44
     2  A>B  UC_SEND_ONLY    102)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::sent);
  EXPECT_EQ(found.messages[0].bytes, 300U);
  EXPECT_FALSE(found.messages[0].answer);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{1});
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(Messages, OfUcThatLackAPacketAreIncomplete) {
  const Findings found = analyse(R"(
     0  A>B  UC_WRITE_FIRST   100  dma=768
     1  A>B  UC_WRITE_LAST    102
     2  A>B  UC_SEND_ONLY     103)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101"));
  EXPECT_THAT(found.later, ElementsAre("2 lost_for_good 101 cause=unknown"));
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::incomplete);
  EXPECT_EQ(found.messages[1].first_psn, Psn{103});
  EXPECT_EQ(found.streams[0].directions[0].goodput_bytes, 64U);
}

TEST(Messages, OfUcWithoutABeginningAreNone) {
  const Findings found = analyse(R"(
     0  A>B  UC_SEND_ONLY     100
     1  A>B  UC_SEND_MIDDLE   102
     2  A>B  UC_SEND_LAST     103
     3  A>B  UC_SEND_FIRST    104
     4  A>B  UC_SEND_LAST     105)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[1].first_psn, Psn{104});
  EXPECT_EQ(found.streams[0].directions[0].goodput_bytes, 64U + 256U + 64U);
}

TEST(Messages, OfUcThatWereUnderWayWhenTheCaptureBeganAreSent) {
  const Findings found = analyse(R"(
     0  A>B  UC_SEND_MIDDLE   102
     1  A>B  UC_SEND_LAST     103)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::sent);
  EXPECT_FALSE(found.messages[0].start_seen);
}

// UC sends nothing again: what comes late was overtaken, however late, and what comes twice is a copy.
TEST(Messages, OfUcThatComeLateOrTwiceAreNotSentAgain) {
  const Findings found = analyse(R"(
     0  A>B  UC_SEND_ONLY  100  id=0
     1  A>B  UC_SEND_ONLY  102  id=0
   900  A>B  UC_SEND_ONLY  101  id=0
  5000  A>B  UC_SEND_ONLY  101  id=0)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "3 out_of_order 101 of=2 after=899us",
                                     "4 duplicate 101 cause=unknown of=3 after=4100us"));
  EXPECT_THAT(found.later, ElementsAre("2 reordered 101"));
}

TEST(Messages, ThatNobodyAnsweredAreOpen) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY   100  ar
    10  B>A  ACK         100
    20  A>B  SEND_FIRST  101
    21  A>B  SEND_LAST   102  ar
    22  A>B  READ        103)");
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
  EXPECT_EQ(found.messages[2].end, MessageEnd::open);
  EXPECT_FALSE(found.messages[2].answer);
  EXPECT_EQ(found.streams[0].directions[0].latency.count(), 1U);
}

TEST(Messages, ThatBeganBeforeTheCaptureAreMarked) {
  const Findings found = analyse(R"(
     0  A>B  SEND_MIDDLE  100
     1  A>B  SEND_LAST    101  ar
    10  B>A  ACK          101)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_FALSE(found.messages[0].start_seen);
  EXPECT_TRUE(found.streams[0].is_open_start);
  EXPECT_EQ(found.streams[0].directions[0].latency.count(), 0U);
}

TEST(Messages, OfSeveralPacketsAreRefusedAsOne) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100  dma=576
     1  A>B  WRITE_MIDDLE  101
     2  A>B  WRITE_LAST    102  ar
    10  B>A  NAK_ACCESS    100)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::refused);
  EXPECT_EQ(found.messages[0].bytes, 576U);
  EXPECT_EQ(found.messages[0].psn_count, 3U);
  EXPECT_EQ(found.messages[0].last, (PacketId{3, 0}));
  EXPECT_EQ(found.messages[0].answer, (PacketId{4, 0}));
  EXPECT_EQ(found.streams[0].directions[0].messages_refused, 1U);
}

TEST(Messages, AreRefusedWithThePacketsThatWereUnderWay) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100  dma=832
     1  A>B  WRITE_MIDDLE  101
    10  B>A  NAK_ACCESS    100
    11  A>B  WRITE_MIDDLE  102
    12  A>B  WRITE_LAST    103  ar
    13  A>B  SEND_ONLY     104  ar)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::refused);
  EXPECT_EQ(found.messages[0].bytes, 832U);
  EXPECT_EQ(found.messages[0].psn_count, 4U);
  EXPECT_EQ(found.messages[0].finish, Time{std::chrono::microseconds{10}});
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
  EXPECT_EQ(found.messages[1].type, MessageType::send);
}

TEST(Messages, ThatTheirRequesterBreaksOffHaveTheLengthOfTheirRequest) {
  const Findings found = analyse(R"(
     0  A>B  WRITE_FIRST   100  dma=4000
     1  A>B  WRITE_MIDDLE  101
    10  B>A  NAK_ACCESS    100)");
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::refused);
  EXPECT_EQ(found.messages[0].bytes, 4000U);
}

TEST(Messages, BeforeARefusedOneAreNotCutShort) {
  const Findings found = analyse(R"(
     0  A>B  READ          100
     1  A>B  SEND_ONLY     101  ar
    10  B>A  NAK_INVALID   101)");
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::open);
  EXPECT_EQ(found.messages[1].end, MessageEnd::refused);
}

}  // namespace
}  // namespace roce::analysis
