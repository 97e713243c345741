// SPDX-License-Identifier: BSD-2-Clause
// Incomplete captures, and input that no endpoint should send.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string many(int count, const std::string& packet, int first_psn, int step_us, const std::string& options = "") {
  std::string trace;
  for (int i = 0; i < count; ++i) {
    trace += "\n" + std::to_string(i * step_us) + " " + packet + " " + std::to_string(first_psn + i) + " " + options;
  }
  return trace;
}

TEST(PartialCaptures, RequestsAloneShowNoReasonAndNoPlace) {
  const Findings found = analyse(R"(
        0  A>B  SEND_ONLY  100  ar
        1  A>B  SEND_ONLY  101  ar
     5000  A>B  SEND_ONLY  100  ar
     5001  A>B  SEND_ONLY  101  ar)");
  EXPECT_THAT(found.now, ElementsAre("3 retransmission 100 cause=unknown of=1 after=5000us",
                                     "4 retransmission 101 cause=unknown of=2 after=5000us"));
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_FALSE(found.streams[0].joined);
  EXPECT_EQ(found.streams[0].lost_psns, 0U);
}

TEST(PartialCaptures, ResponsesAloneSayOnlyRefusals) {
  const Findings found = analyse(R"(
       0  B>A  ACK           100
      10  B>A  ACK           100
      20  B>A  NAK_SEQUENCE  103
      30  B>A  RNR           104
      40  B>A  ACK           90
      50  B>A  FIRST         110
      60  B>A  LAST          115)");
  EXPECT_THAT(found.now, ElementsAre("3 nak_sequence_error 103", "4 rnr_nak 104 after=1280us"));
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(found.streams.size(), 1U);
}

TEST(PartialCaptures, PacketsWithoutTheirEndAreFollowed) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  cut
     1  A>B  SEND_ONLY     102  cut
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101  cut
    21  A>B  SEND_ONLY     102  cut
    30  B>A  ACK           102)");
  EXPECT_THAT(found.now, ElementsAre("2 gap 101", "3 nak_sequence_error 101", "4 retransmission 101 cause=nak",
                                     "5 retransmission 102 cause=nak of=2 after=20us"));
  EXPECT_THAT(found.later, ElementsAre("2 request_lost_before 101 of=3"));
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[0].bytes, 64U) << "counted as on the wire, not as captured";
}

TEST(PartialCaptures, AStartInTheMiddleIsNoGap) {
  const Findings found = analyse(R"(
     0  B>A  ACK           99
     1  A>B  SEND_MIDDLE   103
     2  A>B  SEND_LAST     104  ar
     8  B>A  ACK           101
    10  B>A  ACK           104)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(HardInput, AClockThatGoesBackwardsMakesNoLoss) {
  const Findings found = analyse(R"(
    1000  A>B  SEND_ONLY  100  ar
     990  B>A  ACK        100
     500  A>B  SEND_ONLY  101  ar
     490  B>A  ACK        101
   -2000  A>B  SEND_ONLY  102  ar
   -2010  B>A  ACK        102)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_EQ(found.messages.size(), 3U);
  for (const PacketAnalysis& packet : found.packets) EXPECT_LT(packet.latency, std::chrono::seconds{1});
}

TEST(HardInput, TheSameFileTwiceLosesNothing) {
  const std::string trace = R"(
       0  A>B  SEND_ONLY  100  ar  id=1
      10  B>A  ACK        100      id=1
     400  A>B  SEND_ONLY  101  ar  id=2
     410  B>A  ACK        101      id=2
     800  A>B  SEND_ONLY  102  ar  id=3
     810  B>A  ACK        102      id=3)";
  const Findings found = analyse(trace + trace);
  for (const std::string& text : found.later) EXPECT_THAT(text, Not(HasSubstr("lost"))) << text;
  EXPECT_EQ(found.streams[0].lost_psns, 0U);
}

TEST(HardInput, ARepetitionOnAClockThatWentBackHasNoReason) {
  const Findings found = analyse(R"(
    1000  A>B  SEND_ONLY  100  ar
    1010  B>A  ACK        100
    1020  A>B  SEND_ONLY  101  ar
     500  A>B  SEND_ONLY  101  ar
     510  B>A  ACK        101)");
  ASSERT_EQ(found.now.size(), 1U);
  EXPECT_THAT(found.now[0], HasSubstr("4 retransmission 101 cause=unknown of=3"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(HardInput, TheSamePacketForEver) {
  const Findings found = analyse(many(1, "A>B SEND_ONLY", 100, 1, "id=1") + many(1, "A>B SEND_ONLY", 101, 1, "id=2") +
                                 many(1, "A>B SEND_ONLY", 101, 1, "id=2") + many(1, "A>B SEND_ONLY", 101, 1, "id=2"));
  EXPECT_EQ(found.now.size(), 2U);
  EXPECT_THAT(found.now, Each(HasSubstr("duplicate 101")));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(HardInput, JumpsAcrossTheWholeRangeDoNotGrowWhatIsKept) {
  std::mt19937 random{1};  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same on every run
  TrackerOptions options;
  options.limits.requests_per_stream = 512;
  Tracker tracker{options};
  Findings findings;
  const std::vector<std::string> packets{"A>B SEND_ONLY", "A>B READ",  "A>B WRITE_FIRST",  "A>B FETCH_ADD",
                                         "B>A ACK",       "B>A FIRST", "B>A NAK_SEQUENCE", "B>A RNR",
                                         "B>A MIDDLE",    "B>A LAST"};
  std::string trace;
  for (int i = 0; i < 3000; ++i) {
    const std::string& packet = packets[random() % packets.size()];
    const std::string dma = packet == "A>B READ" ? " dma=" + std::to_string(random()) : "";
    trace += std::to_string(random() % 100000) + " " + packet + " " + std::to_string(random() & 0xFFFFFF) + dma + "\n";
  }
  feed(tracker, trace, findings);
  tracker.finish();
  EXPECT_EQ(findings.packets.size(), 3000U);
  EXPECT_EQ(tracker.stream_count(), 0U);
}

TEST(Limits, TheStreamThatWasSilentLongestIsClosed) {
  TrackerOptions options;
  options.limits.streams = 2;
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  qp=0x31
     1  A>B  SEND_ONLY  100  qp=0x32
     2  A>B  SEND_ONLY  101  qp=0x31
     3  A>B  SEND_ONLY  100  qp=0x33
     4  A>B  SEND_ONLY  102  qp=0x31)",
                                 options);
  EXPECT_EQ(found.evictions.streams, 1U);
  ASSERT_EQ(found.streams.size(), 3U) << "what is closed is still summed up";
  EXPECT_EQ(found.packets[4].stream, 0U) << "the stream in use stays";
  EXPECT_EQ(found.streams[1].directions[0].packets, 1U);
}

TEST(Limits, RequestsThatNobodyAcknowledgesAreLetGo) {
  TrackerOptions options;
  options.limits.requests_per_stream = 256;
  const Findings found = analyse(many(1000, "A>B SEND_ONLY", 100, 1), options);
  EXPECT_GT(found.evictions.requests, 0U);
  EXPECT_LE(found.evictions.requests, 1000U - 256U);
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(Limits, RequestsThatAreAcknowledgedAreNotEvicted) {
  TrackerOptions options;
  options.limits.requests_per_stream = 256;
  std::string trace;
  for (int i = 0; i < 1000; ++i) {
    trace += "\n" + std::to_string(10 * i) + " A>B SEND_ONLY " + std::to_string(100 + i) + " ar\n" +
             std::to_string(10 * i + 5) + " B>A ACK " + std::to_string(100 + i);
  }
  const Findings found = analyse(trace, options);
  EXPECT_EQ(found.evictions.requests, 0U);
  EXPECT_EQ(found.messages.size(), 1000U);
  EXPECT_THAT(found.now, IsEmpty());
}

}  // namespace
}  // namespace roce::analysis
