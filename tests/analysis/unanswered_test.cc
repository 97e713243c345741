// SPDX-License-Identifier: BSD-2-Clause
// Connections that die: requests that nobody answers, or that are refused until their requester gives up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Time at(std::int64_t microseconds) {
  return Time{std::chrono::microseconds{microseconds}};
}

// Returns the one request without an answer that the only stream ended with; an empty one if there is none.
UnansweredRequest only(const Findings& found) {
  EXPECT_EQ(found.streams.size(), 1U);
  if (found.streams.empty()) return {};
  EXPECT_EQ(found.streams[0].unanswered.size(), 1U);
  return found.streams[0].unanswered.empty() ? UnansweredRequest{} : found.streams[0].unanswered[0];
}

// The trace of a request that is sent `tries` times, the first wait aside 36 ms apart.
std::string tries(std::string_view packet, int count) {
  std::string trace = "0 A>B SEND_ONLY 99 ar\n10 B>A ACK 99\n";
  for (int i = 0; i < count; ++i) {
    trace += std::to_string(1000 + (i == 0 ? 0 : 36000 * i - 6000)) + " A>B " + std::string{packet} + "\n";
  }
  return trace;
}

TEST(Unanswered, WaitsTellTheAckTimeout) {
  const Findings found = analyse(tries("SEND_ONLY 100 ar", 4));
  EXPECT_THAT(found.later, Contains("6 no_answer 100 of=3 after=102000us tries=4 ack_timeout=13"));
  const UnansweredRequest dead = only(found);
  EXPECT_EQ(dead.how, Unanswered::silence);
  EXPECT_FALSE(dead.is_one_way);
  EXPECT_EQ(dead.tries, 4U);
  EXPECT_EQ(dead.ack_timeout, 13);
  EXPECT_EQ(dead.psn, Psn{100});
  EXPECT_EQ(dead.packet, (PacketId{6, 0}));
  EXPECT_EQ(dead.begin, at(1000));
  EXPECT_EQ(dead.latest, at(103000));
  EXPECT_EQ(dead.wait, std::chrono::milliseconds{36});
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
}

TEST(Unanswered, AWaitALittleShorterThanTheTimeoutIsOne) {
  const auto exponent_of = [](int wait) {
    std::string trace = "0 A>B SEND_ONLY 99 ar\n10 B>A ACK 99\n";
    for (int i = 0; i < 4; ++i) trace += std::to_string(1000 + i * wait) + " A>B SEND_ONLY 100 ar\n";
    return static_cast<int>(only(analyse(trace)).ack_timeout);
  };
  EXPECT_EQ(exponent_of(16777), 12);
  EXPECT_EQ(exponent_of(16000), 12);
  EXPECT_EQ(exponent_of(15300), 11);
  EXPECT_EQ(exponent_of(33000), 13);
}

TEST(Unanswered, OneWaitDoesNotTellTheAckTimeout) {
  const Findings found = analyse(tries("SEND_ONLY 100 ar", 2));
  EXPECT_EQ(only(found).tries, 2U);
  EXPECT_EQ(only(found).ack_timeout, 0);
}

TEST(Unanswered, TimeUntilANakIsNoWaitForAnAnswer) {
  const Findings found = analyse(R"(
         0  A>B  SEND_ONLY     99   ar
        10  B>A  ACK           99
       100  A>B  SEND_ONLY     100
       101  A>B  SEND_ONLY     101  ar
       111  B>A  NAK_SEQUENCE  100
       115  A>B  SEND_ONLY     100
       116  A>B  SEND_ONLY     101  ar)");
  EXPECT_EQ(only(found).tries, 2U);
  EXPECT_EQ(only(found).how, Unanswered::sent_once);
  EXPECT_EQ(only(found).since, at(115));
  EXPECT_EQ(only(found).wait, Duration{});
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("no_answer"))));
}

TEST(Unanswered, SilenceBeginsAfterTheLatestNak) {
  const Findings found = analyse(R"(
         0  A>B  SEND_ONLY     99   ar
        10  B>A  ACK           99
       100  A>B  SEND_ONLY     100
       101  A>B  SEND_ONLY     101  ar
       111  B>A  NAK_SEQUENCE  100
       115  A>B  SEND_ONLY     100
       116  A>B  SEND_ONLY     101  ar
     70000  A>B  SEND_ONLY     100
     70001  A>B  SEND_ONLY     101  ar)");
  EXPECT_EQ(only(found).how, Unanswered::silence);
  EXPECT_EQ(only(found).tries, 3U);
  EXPECT_EQ(only(found).begin, at(100));
  EXPECT_EQ(only(found).since, at(115));
}

TEST(Unanswered, ReadsThatNobodyAnswers) {
  std::string trace = "0 A>B SEND_ONLY 99 ar\n10 B>A ACK 99\n";
  for (int i = 0; i < 3; ++i) {
    for (int read = 0; read < 4; ++read) {
      trace += std::to_string(1000 + i * 70000 + read) + " A>B READ " + std::to_string(100 + read) + " ar\n";
    }
  }
  const Findings found = analyse(trace);
  EXPECT_THAT(found.later, Contains("11 no_answer 100 of=3 after=140000us tries=3 ack_timeout=14"));
  EXPECT_EQ(only(found).tries, 3U);
  ASSERT_EQ(found.messages.size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(found.messages[i].end, MessageEnd::open) << i;
}

TEST(Unanswered, ReadsOfAConnectionOfWhichTheOtherDirectionWasNeverSeen) {
  std::string trace;
  for (int i = 0; i < 3; ++i) {
    for (int read = 0; read < 4; ++read) {
      trace += std::to_string(1000 + i * 70000 + read) + " A>B READ " + std::to_string(100 + read) + " ar\n";
    }
  }
  const Findings found = analyse(trace);
  EXPECT_THAT(found.later, IsEmpty()) << "the capture may lack the answers alone";
  const UnansweredRequest dead = only(found);
  EXPECT_EQ(dead.how, Unanswered::silence);
  EXPECT_TRUE(dead.is_one_way);
  EXPECT_EQ(dead.tries, 3U);
  EXPECT_EQ(dead.ack_timeout, 14);
}

TEST(Unanswered, AnAnswerThatWasLostBehindTheCapturePointIsNone) {
  // As in rc-blackhole: the first ACK was seen, nothing has passed the capture point towards anybody since.
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      400  B>A  ACK         100
     2000  A>B  SEND_FIRST  101
     2001  A>B  SEND_LAST   102  ar
    36000  A>B  SEND_ONLY   100  ar
    36001  A>B  SEND_FIRST  101
    36002  A>B  SEND_LAST   102  ar
    72000  A>B  SEND_ONLY   100  ar
    72001  A>B  SEND_FIRST  101
    72002  A>B  SEND_LAST   102  ar)");
  EXPECT_THAT(found.later, Contains("8 no_answer 100 of=1 after=72000us tries=3 ack_timeout=13"));
  EXPECT_EQ(only(found).psn, Psn{100});
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::open);
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
}

TEST(Unanswered, AnswersThatNeverArrive) {
  // Each try is answered, as seen here, and the requester tries again. It may have the last answer.
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      400  B>A  ACK         100
    36000  A>B  SEND_ONLY   100  ar
    36400  B>A  ACK         100
    72000  A>B  SEND_ONLY   100  ar
    72400  B>A  ACK         100)");
  EXPECT_THAT(found.later, ElementsAre("2 response_lost_after 100 of=3", "4 response_lost_after 100 of=5"));
  EXPECT_EQ(only(found).how, Unanswered::answers_lost);
  EXPECT_EQ(only(found).tries, 3U);
  ASSERT_EQ(found.messages.size(), 1U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::open);
}

TEST(Unanswered, AnAnswerThatArrivedAtLastEndsTheMessage) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
      400  B>A  ACK         100
    36000  A>B  SEND_ONLY   100  ar
    36400  B>A  ACK         100
    72000  A>B  SEND_ONLY   100  ar
    72400  B>A  ACK         100
    73000  A>B  SEND_ONLY   101  ar
    73400  B>A  ACK         101)");
  EXPECT_THAT(found.streams[0].unanswered, IsEmpty());
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].end, MessageEnd::acknowledged);
  EXPECT_EQ(found.messages[0].latency(), std::chrono::microseconds{72400});
}

TEST(Unanswered, BehindTheFaultOnlyTheFirstTryIsSeen) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
       10  B>A  ACK         100
     1000  A>B  SEND_ONLY   101  ar)");
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(only(found).how, Unanswered::sent_once);
  EXPECT_EQ(only(found).begin, at(1000));
}

TEST(Unanswered, AResponderThatAnswersInPartIsNotSilent) {
  // The capture lacks the end of the READ's answer; the requester goes on.
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   99   ar
       10  B>A  ACK         99
     1000  A>B  READ        100  dma=512
    36000  A>B  READ        100  dma=512
    36010  B>A  FIRST       100
    37000  A>B  SEND_ONLY   102  ar
    37010  B>A  ACK         102)");
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("no_answer"))));
  EXPECT_THAT(found.streams[0].unanswered, IsEmpty());
}

TEST(Unanswered, ARequestThatAskedForNoAnswerIsNotMissed) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY   100  ar
       10  B>A  ACK         100
     1000  A>B  SEND_ONLY   101)");
  EXPECT_THAT(found.streams[0].unanswered, IsEmpty());
}

TEST(Unanswered, RnrNaksAreAnswers) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  RNR        100
    1400  A>B  SEND_ONLY  100  ar
    1410  B>A  RNR        100
    2800  A>B  SEND_ONLY  100  ar
    2810  B>A  RNR        100)");
  EXPECT_THAT(found.later, ElementsAre("5 never_ready 100 of=1 after=2800us tries=3"));
  const UnansweredRequest dead = only(found);
  EXPECT_EQ(dead.how, Unanswered::not_ready);
  EXPECT_EQ(dead.refusals, 3U);
  EXPECT_EQ(dead.latest, at(2810));
}

TEST(Unanswered, SilenceAfterRnrNaksIsSilence) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  RNR        100
    1400  A>B  SEND_ONLY  100  ar
   36000  A>B  SEND_ONLY  100  ar)");
  EXPECT_THAT(found.later, Contains("4 no_answer 100 of=1 after=36000us tries=3 ack_timeout=13"));
}

TEST(Unanswered, AReceiveInTimeEndsTheRefusals) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
      10  B>A  RNR        100
    1400  A>B  SEND_ONLY  100  ar
    1410  B>A  ACK        100)");
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_THAT(found.streams[0].unanswered, IsEmpty());
}

TEST(Unanswered, ConnectionsThatAnErrorEndedAreRefusedAndNotDead) {
  const Findings found = analyse(R"(
       0  A>B  WRITE_ONLY  100  dma=64 ar
      10  B>A  NAK_ACCESS  100
    5010  A>B  WRITE_ONLY  101  dma=64 ar)");
  EXPECT_THAT(found.streams[0].unanswered, IsEmpty());
}

TEST(Unanswered, OneThatWentAlongWithGoBacksForOthersWasNotTriedInVain) {
  // The last ACK is not in the capture, and the requester is content.
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY     100  ar
       1  A>B  SEND_ONLY     101  ar
       2  A>B  SEND_ONLY     102  ar
      20  B>A  NAK_SEQUENCE  100
      30  A>B  SEND_ONLY     100  ar
      31  A>B  SEND_ONLY     101  ar
      32  A>B  SEND_ONLY     102  ar
      50  B>A  ACK           101)");
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("no_answer"))));
}

}  // namespace
}  // namespace roce::analysis
