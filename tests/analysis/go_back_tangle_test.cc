// SPDX-License-Identifier: BSD-2-Clause
// Go-backs that follow each other closely, and connections that look alike: what fresh seeds of the simulation showed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::uint32_t> streams_of(const Findings& found) {
  std::vector<std::uint32_t> streams;
  for (const PacketAnalysis& packet : found.packets) streams.push_back(packet.stream);
  return streams;
}

// A-CON-3 (a response has a PSN of the requests it answers)
TEST(SimilarConnections, AResponseIsNotToRequestsOfUc) {
  const Findings found = analyse(R"(
     0  A>B  UC_SEND_ONLY  100  v1  qp=0x22
     1  A>B  UC_SEND_ONLY  101  v1  qp=0x22
     2  A>B  SEND_ONLY     102  v1  qp=0x23  ar
    10  B>A  ACK           101  v1  qp=0x13)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 1, 2));
}

TEST(SimilarConnections, TheAnswerToADuplicateStaysWithItsOwn) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  v1  qp=0x22  ar
       1  A>B  SEND_ONLY  101  v1  qp=0x22  ar
      10  B>A  ACK        100  v1  qp=0x12
    1000  A>B  SEND_ONLY  100  v1  qp=0x22  ar
    1001  A>B  SEND_ONLY  101  v1  qp=0x22  ar
    1010  B>A  ACK        101  v1  qp=0x12
    1011  A>B  SEND_ONLY  100  v1  qp=0x23  ar
    1012  A>B  SEND_ONLY  101  v1  qp=0x23  ar
    1013  B>A  ACK        101  v1  qp=0x12
    1020  B>A  ACK        101  v1  qp=0x13)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 0, 1));
}

TEST(OvertakenRequests, AnAnswerThatComesTooSoonIsNotToTheGoBack) {
  const auto answered = [](const char* time) {
    return analyse(std::string(R"(
     0  A>B  SEND_ONLY     100  ar
    20  B>A  ACK           100
   100  A>B  SEND_ONLY     101  ar
   101  A>B  SEND_ONLY     102  ar
   102  A>B  SEND_ONLY     103  ar
   110  B>A  NAK_SEQUENCE  101
   112  A>B  SEND_ONLY     101  ar
)") + time + R"(
   117  A>B  SEND_ONLY     102  ar
   117  A>B  SEND_ONLY     103  ar
   121  B>A  NAK_SEQUENCE  102
   125  A>B  SEND_ONLY     102  ar
   126  A>B  SEND_ONLY     103  ar
   136  B>A  ACK           103)");
  };
  EXPECT_THAT(answered("113.2 B>A ACK 101").later, Not(Contains(HasSubstr("9 request_lost_after 102"))));
  EXPECT_THAT(answered("113.3 B>A ACK 101").later, Contains(HasSubstr("9 request_lost_after 102")));
}

// A-NAK-4 (the request that provoked a NAK was discarded: only the go-back brings it)
TEST(OvertakenRequests, TheAnswerToWhatProvokedTheNakIsToTheGoBack) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  ar
    20  B>A  ACK           100
   100  A>B  SEND_ONLY     101  ar
   101  A>B  SEND_ONLY     102  ar
   110  B>A  NAK_SEQUENCE  101
   111  A>B  SEND_ONLY     103  ar
   112  A>B  SEND_ONLY     101  ar
   113  A>B  SEND_ONLY     102  ar
   114  A>B  SEND_ONLY     103  ar
   115  B>A  ACK           102
   117  B>A  NAK_SEQUENCE  103
   125  A>B  SEND_ONLY     103  ar
   135  B>A  ACK           103)");
  EXPECT_THAT(found.later, Contains(HasSubstr("9 request_lost_after 103")));
}

TEST(NakedRequests, AfterSilenceANakIsAboutTheGoBackHoweverSoonItComes) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  ar
    20  B>A  ACK           100
   100  A>B  SEND_ONLY     101
   101  A>B  SEND_ONLY     102  ar
  5000  A>B  SEND_ONLY     101
  5001  A>B  SEND_ONLY     102  ar
  5006  B>A  NAK_SEQUENCE  101
  5010  A>B  SEND_ONLY     101
  5011  A>B  SEND_ONLY     102  ar
  5030  B>A  ACK           102)");
  EXPECT_THAT(found.later, Contains(HasSubstr("5 request_lost_after 101")));
}

TEST(NakedRequests, APauseBeforeWhatProvokedTheNakIsNoRoundTrip) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100
     1  A>B  SEND_ONLY     101
     2  A>B  SEND_ONLY     102  ar
   180  A>B  SEND_ONLY     103  ar
   181  B>A  NAK_SEQUENCE  101
   190  A>B  SEND_ONLY     101
   191  A>B  SEND_ONLY     102  ar
   192  B>A  ACK           102)");
  EXPECT_THAT(found.later, Contains(HasSubstr("2 request_lost_after 101")));
}

TEST(InterruptedGoBacks, OnePacketOfTheOneBeforeComesAfterTheFirstOfTheNext) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  v6
     1  A>B  SEND_ONLY     101  v6
     2  A>B  SEND_ONLY     102  v6
     3  A>B  SEND_ONLY     103  v6
     4  A>B  SEND_ONLY     104  v6
     5  A>B  SEND_ONLY     105  v6  ar
    20  B>A  NAK_SEQUENCE  101  v6
    30  A>B  SEND_ONLY     101  v6
    31  A>B  SEND_ONLY     102  v6
    32  A>B  SEND_ONLY     103  v6
    33  A>B  SEND_ONLY     105  v6  ar
    36  B>A  NAK_SEQUENCE  101  v6
    37  A>B  SEND_ONLY     101  v6
    38  A>B  SEND_ONLY     104  v6     # the one that the go-back left out
    39  A>B  SEND_ONLY     102  v6
    40  A>B  SEND_ONLY     103  v6
    41  A>B  SEND_ONLY     104  v6
    42  A>B  SEND_ONLY     105  v6  ar
    60  B>A  ACK           105  v6)");
  EXPECT_THAT(found.now, Contains(HasSubstr("14 out_of_order 104")));
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("gap 102"))));
}

TEST(InterruptedGoBacks, OneThatGoesOnWasNotInterrupted) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  v6
     1  A>B  SEND_ONLY     101  v6
     2  A>B  SEND_ONLY     102  v6
     3  A>B  SEND_ONLY     103  v6
     4  A>B  SEND_ONLY     104  v6
     5  A>B  SEND_ONLY     105  v6
     6  A>B  SEND_ONLY     106  v6  ar
    20  B>A  NAK_SEQUENCE  101  v6
    30    A>B  SEND_ONLY     101  v6
    31    A>B  SEND_ONLY     102  v6
    32    A>B  SEND_ONLY     104  v6
    33    A>B  SEND_ONLY     105  v6
    33.5  B>A  NAK_SEQUENCE  103  v6
    34    A>B  SEND_ONLY     103  v6     # late, and no go-back because of that NAK
    35    A>B  SEND_ONLY     106  v6  ar)");
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("gap 104"))));
}

TEST(UnansweredRequests, WhoseOldestWasNotSeenWhenItWasSentLastAreNoLossBeyond) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY     100  ar
      10  B>A  ACK           100
     100  A>B  SEND_FIRST    101
     101  A>B  SEND_LAST     102  ar
     110  B>A  NAK_SEQUENCE  101
     121  A>B  SEND_LAST     102  ar     # 101 was lost before
   20000  A>B  SEND_FIRST    101
   20001  A>B  SEND_LAST     102  ar
   20011  B>A  ACK           102)");
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("lost_beyond"))));
}

// A-PSN-2 (a READ takes as many PSNs as its answer has packets of the path MTU)
TEST(PathMtu, ALatePacketBeforeAReadSaysNothingOfItsLength) {
  const Findings found = analyse(R"(
     0  A>B  READ  100  v6  dma=64
    10  B>A  ONLY  100  v6
    20  A>B  READ  102  v6  dma=19456
    21  A>B  READ  101  v6  dma=64
    22  A>B  READ  121  v6  dma=64)");
  EXPECT_THAT(found.now, ElementsAre("3 gap 101", "4 out_of_order 101 of=3 after=1us"));
}

}  // namespace
}  // namespace roce::analysis
