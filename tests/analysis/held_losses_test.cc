// SPDX-License-Identifier: BSD-2-Clause
// A-LOSS-11: packets that seem to be lost in front of the capture point, are sent again, and come late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LatePackets, OfARequestItsRetransmissionMayComeFirst) {
  const auto after = [](const char* late) {
    return analyse(std::string(R"(
     0  A>B  WRITE_FIRST   100  id=1
     1  A>B  WRITE_LAST    102  id=3 ar
    10  B>A  NAK_SEQUENCE  101
    20  A>B  WRITE_MIDDLE  101  id=4
    21  A>B  WRITE_LAST    102  id=5 ar
)") + late + R"(
   200  A>B  SEND_ONLY     103  id=6 ar
   210  B>A  ACK           103)");
  };
  const Findings found = after("22 A>B WRITE_MIDDLE 101 id=2");
  EXPECT_THAT(found.now, Contains(HasSubstr("6 out_of_order 101")));
  EXPECT_THAT(found.later, ElementsAre("2 reordered 101 of=3"));
  EXPECT_THAT(after("").later, ElementsAre("2 request_lost_before 101 of=3"));
}

TEST(LatePackets, AreNotAwaitedForLong) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY     100  id=1
     1  A>B  SEND_ONLY     102  id=3 ar
    10  B>A  NAK_SEQUENCE  101
    20  A>B  SEND_ONLY     101  id=4
   121  A>B  SEND_ONLY     102  id=5 ar
   122  A>B  SEND_ONLY     101  id=2)");
  EXPECT_THAT(found.later, Contains("2 request_lost_before 101 of=3"));
}

// Without IP identifications; part of an answer is requested again, and comes from that before.
TEST(LatePackets, OfAnAnswerComesWhileThatGoesOn) {
  const Findings found = analyse(R"(
     0   A>B  READ    100  id=0 dma=1280
    10   B>A  FIRST   100  id=0
    11   B>A  MIDDLE  102  id=0
    12   A>B  READ    101  id=0 dma=1024
    12.5 B>A  MIDDLE  103  id=0
    12.6 B>A  MIDDLE  101  id=0
    13   B>A  LAST    104  id=0 len=256
    23   B>A  FIRST   101  id=0)");
  EXPECT_THAT(found.now, Contains("6 response_out_of_order 101 of=4"));
  EXPECT_THAT(found.later, ElementsAre("3 reordered 101 of=4"));
}

TEST(LatePackets, OfAnAnswerHasAnOlderMsnThanTheNewAnswer) {
  const auto answered = [](const char* first, const char* second) {
    return analyse(std::string(R"(
     0  A>B  READ_REQUEST  100  id=0 dma=64
     1  A>B  READ_REQUEST  101  id=0 dma=64
    10  B>A  ONLY          101  id=0 aeth.msn=2
    12  A>B  READ_REQUEST  100  id=0 dma=64
)") + first + "\n" +
                   second);
  };
  const char* late = "13 B>A ONLY 100 id=0 aeth.msn=1";
  EXPECT_THAT(answered(late, "23 B>A ONLY 100 id=0 aeth.msn=2").later, ElementsAre("1 reordered 100 of=4"));
  EXPECT_THAT(answered("22 B>A ONLY 100 id=0 aeth.msn=2", "22.5 B>A ONLY 100 id=0 aeth.msn=1").later,
              ElementsAre("1 reordered 100 of=4"));
  EXPECT_THAT(answered("", "23 B>A ONLY 100 id=0 aeth.msn=2").later, ElementsAre("1 response_lost_before 100 of=4"));
}

// Some responders begin the rest of an answer with a MIDDLE, so that only the next packet shows which answer it is of.
TEST(LatePackets, OfAnAnswerAreKnownByTheNext) {
  const auto after_middle = [](const char* next) {
    return analyse(std::string(R"(
     0  A>B  READ    100  id=0 dma=1024
    10  B>A  FIRST   100  id=0
    11  B>A  LAST    103  id=0 len=256
    13  A>B  READ    101  id=0 dma=768
    20  B>A  MIDDLE  101  id=0
)") + next);
  };
  EXPECT_THAT(after_middle("21 B>A FIRST 101 id=0").later, Contains("3 reordered 101 of=4"));
  EXPECT_THAT(after_middle("21 B>A MIDDLE 102 id=0").later, Contains("3 response_lost_before 101 of=4"));
}

TEST(LatePackets, ACopyOfWhatANakAskedForWasNotLate) {
  const Findings found = analyse(R"(
     0    A>B  SEND_ONLY     100  id=0
     1    A>B  SEND_ONLY     102  id=0
    10    B>A  NAK_SEQUENCE  101  id=0
    20    A>B  SEND_ONLY     101  id=0
    20.1  A>B  SEND_ONLY     101  id=0
    21    A>B  SEND_ONLY     102  id=0 ar
    30    B>A  ACK           102  id=0)");
  EXPECT_THAT(found.now, Contains(HasSubstr("5 duplicate 101")));
  EXPECT_THAT(found.later, ElementsAre("2 request_lost_before 101 of=3"));
}

// A-ORD-7 (one packet far ahead of a go-back or an answer that goes on was overtaken by it)
TEST(Strays, ANewRequestFarAheadOfAGoBackDoesNotEndIt) {
  const auto go_back = [](const char* stray) {
    return analyse(std::string(R"(
     0  A>B  SEND_ONLY     100  id=0
     1  A>B  SEND_ONLY     101  id=0
     2  A>B  SEND_ONLY     102  id=0
     3  A>B  SEND_ONLY     103  id=0
     4  A>B  SEND_ONLY     104  id=0
     5  A>B  SEND_ONLY     105  id=0
     6  A>B  SEND_ONLY     106  id=0
     7  A>B  SEND_ONLY     107  id=0 ar
     8  B>A  NAK_SEQUENCE  100  id=0
    20  A>B  SEND_ONLY     100  id=0
    50  A>B  SEND_ONLY     101  id=0
)") + stray);
  };
  const std::string rest = "52 A>B SEND_ONLY 102 id=0\n53 A>B SEND_ONLY 103 id=0\n";
  const Findings stray = go_back(("51 A>B SEND_ONLY 108 id=0\n" + rest).c_str());
  EXPECT_THAT(stray.now, Not(Contains(HasSubstr(" gap "))));
  EXPECT_THAT(stray.now, Contains(HasSubstr("13 retransmission 102 cause=nak")));
  EXPECT_THAT(stray.later, Not(Contains(HasSubstr("before"))));
  // It has not sent the stray again when it ends.
  const Findings later = go_back(("51 A>B SEND_ONLY 108 id=0\n" + rest + "54 A>B SEND_ONLY 109 id=0\n").c_str());
  EXPECT_THAT(later.now, Contains("15 gap 104x5"));
  // Two of them show that the go-back is over.
  const Findings over = go_back("51 A>B SEND_ONLY 108 id=0\n52 A>B SEND_ONLY 109 id=0\n");
  EXPECT_THAT(over.now, Contains("13 gap 102x6"));
}

TEST(Strays, AResponseFarAheadOfAnAnswerIsOfTheAnswerBefore) {
  const Findings found = analyse(R"(
     0  A>B  READ    100  id=0 dma=2048
    10  B>A  FIRST   100  id=0
    11  B>A  LAST    107  id=0 len=256
    13  A>B  READ    101  id=0 dma=1792
    24  B>A  FIRST   101  id=0
    25  B>A  MIDDLE  106  id=0
    26  B>A  MIDDLE  102  id=0
    27  B>A  MIDDLE  103  id=0
    28  B>A  MIDDLE  104  id=0
    29  B>A  MIDDLE  105  id=0
    30  B>A  MIDDLE  106  id=0
    31  B>A  LAST    107  id=0 len=256)");
  EXPECT_THAT(found.now, Not(Contains(HasSubstr("out_of_order"))));
  EXPECT_THAT(found.later, Not(Contains(HasSubstr("reordered"))));
}

// After a READ that was requested again, too.
TEST(Unanswered, ARequestThatNothingAnsweredIsLostWhateverWasReadBefore) {
  const std::string read = R"(
     0  A>B  READ_REQUEST  100  dma=64
     5  A>B  SEND_ONLY     101  ar
    10  B>A  ACK           101
    15  A>B  READ_REQUEST  100  dma=64
    16  A>B  SEND_ONLY     101  ar
    25  B>A  ONLY          100
    26  B>A  ACK           101
  1000  A>B  SEND_ONLY     102  ar
)";
  EXPECT_THAT(analyse(read + "9000 A>B SEND_ONLY 102 ar\n9010 B>A ACK 102").later,
              Contains(HasSubstr("8 lost_beyond 102")));
  // Its answer counts, since the READ was answered before.
  EXPECT_THAT(analyse(read + "1010 B>A ACK 102\n9000 A>B SEND_ONLY 102 ar\n9010 B>A ACK 102").later,
              Contains(HasSubstr("9 response_lost_after 102")));
}

}  // namespace
}  // namespace roce::analysis
