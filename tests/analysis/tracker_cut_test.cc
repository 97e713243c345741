// SPDX-License-Identifier: BSD-2-Clause
// Packets that a snap length has cut: the BTH, of 12 bytes, was captured, and more or less of what follows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CutPackets, ReadOfUnknownLengthTakesThePsnsUpToTheNextRequest) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=1024 snap=20
       5  A>B  SEND_ONLY  104  ar
      10  B>A  FIRST      100
      11  B>A  MIDDLE     101
      12  B>A  MIDDLE     102
      13  B>A  LAST       103  len=256
      20  B>A  ACK        104)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_THAT(found.messages, SizeIs(2));
  EXPECT_EQ(found.messages[0].end, MessageEnd::acknowledged);
  EXPECT_EQ(found.messages[0].bytes, 1024U);
  EXPECT_EQ(found.messages[0].psn_count, 4U);
}

TEST(CutPackets, EndOfTheAnswerShowsHowManyPsnsTheLastReadTook) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=768 snap=12
      10  B>A  FIRST      100
      11  B>A  MIDDLE     101
      12  B>A  LAST       102  len=256
      20  A>B  SEND_ONLY  104  ar)");
  EXPECT_THAT(found.now, ElementsAre("5 gap 103"));
}

TEST(CutPackets, RequestLostAfterAReadOfUnknownLength) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=512 snap=12
       5  A>B  SEND_ONLY  103  ar
      10  B>A  FIRST      100
      11  B>A  LAST       101  len=256
      20  B>A  NAK_SEQUENCE  102
      30  A>B  SEND_ONLY  102  ar
      31  A>B  SEND_ONLY  103  ar
      40  B>A  ACK        103)");
  EXPECT_THAT(found.now, ElementsAre("5 nak_sequence_error 102", "6 retransmission 102 cause=nak",
                                     "7 retransmission 103 cause=nak of=2 after=26us"));
  EXPECT_THAT(found.later, ElementsAre("2 request_lost_before 102 of=5"));
}

TEST(CutPackets, MissingPartsOfAnAnswerOfUnknownLength) {
  const Findings found = analyse(R"(
       0  A>B  READ       100  dma=1024 snap=12
      10  B>A  FIRST      100
      13  B>A  LAST       103  len=256
      20  A>B  SEND_ONLY  104  ar
   20000  B>A  ACK        104
   40000  A>B  SEND_ONLY  105  ar)");
  EXPECT_THAT(found.now, ElementsAre("3 response_gap 101x2 of=1", HasSubstr("5 implied_nak 100")));
}

TEST(CutPackets, UnknownSyndromeMayBeThatOfANak) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  ar
       5  A>B  SEND_ONLY  101  ar
      10  B>A  NAK_SEQUENCE  100  snap=12
    9000  A>B  SEND_ONLY  100  ar
    9005  A>B  SEND_ONLY  101  ar)");
  EXPECT_THAT(found.now, ElementsAre("4 retransmission 100 cause=unknown of=1 after=9000us",
                                     "5 retransmission 101 cause=unknown of=2 after=9000us"));
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(CutPackets, UnknownSyndromeAcknowledgesWhatIsBeforeItsPsn) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100
       5  A>B  SEND_ONLY  101  ar
      10  B>A  ACK        101  snap=12)");
  ASSERT_THAT(found.messages, SizeIs(2));
  EXPECT_EQ(found.messages[0].end, MessageEnd::acknowledged);
  EXPECT_EQ(found.messages[1].end, MessageEnd::open);
}

TEST(CutPackets, CopiesAreKnownByTheirIdentification) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  snap=30
       5  A>B  SEND_ONLY  101  snap=30 id=7
      20  A>B  SEND_ONLY  101  snap=30 id=7)");
  EXPECT_THAT(found.now, ElementsAre(HasSubstr("3 duplicate 101")));
}

TEST(CutPackets, WithoutIdentificationsNothingIsSaidOfACopy) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  snap=30 id=0
       5  A>B  SEND_ONLY  101  snap=30 id=0
       6  A>B  SEND_ONLY  101  snap=30 id=0)");
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(CutPackets, SuperFrameTakesThePsnsUpToTheNextRequest) {
  const Findings found = analyse(R"(
       0  A>B  SEND_FIRST  100  len=5000 snap=54
       5  A>B  SEND_LAST   107  ar
      10  B>A  ACK         107)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(CutPackets, PayloadThatIsNoPathMtuIsThatOfSeveralPackets) {
  const Findings found = analyse(R"(
       0  A>B  WRITE_FIRST   100  dma=4096 len=2064 snap=54
       1  A>B  WRITE_MIDDLE  102  len=2064 snap=54
       5  A>B  WRITE_FIRST   104  dma=4096 len=2064 snap=54
       6  A>B  WRITE_MIDDLE  106  len=2064 snap=54
      10  B>A  ACK           107)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  // A gap behind a packet of one path MTU stays a gap.
  EXPECT_THAT(analyse(R"(
       0  A>B  WRITE_FIRST   100  dma=4096 len=1024 snap=54
       1  A>B  WRITE_MIDDLE  102  len=1024 snap=54)")
                  .now,
              ElementsAre(HasSubstr("2 gap 101")));
}

TEST(CutPackets, ReadsThatAreSeveralAreAnsweredByWhatComes) {
  const Findings found = analyse(R"(
       0  A>B  READ    100  dma=1024 payload_length=64 snap=40
       5  B>A  FIRST   100
       6  B>A  MIDDLE  101  len=528 snap=40
       7  B>A  LAST    103  len=528 snap=40
       8  B>A  MIDDLE  105
       9  B>A  LAST    107  ar
      20  A>B  READ    112  dma=1024
      25  B>A  FIRST   112)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
}

TEST(CutPackets, PayloadThatExceedsItsRethIsThatOfSeveralPackets) {
  EXPECT_THAT(analyse(R"(
       0  A>B  WRITE_ONLY  100  dma=64 len=144 snap=54
       5  A>B  WRITE_ONLY  102  dma=64 ar
      10  B>A  ACK         102)")
                  .now,
              IsEmpty());
}

TEST(CutPackets, LastPacketsMayBeSeveralWhereOthersWere) {
  const std::string begin = R"(
       0  A>B  SEND_FIRST   100  len=2064 snap=54
       1  A>B  SEND_LAST    102  len=500 snap=54
       5  A>B  SEND_ONLY    104  len=500 snap=54
       6  A>B  SEND_ONLY    106  len=8 snap=54
)";
  EXPECT_THAT(analyse(begin).now, IsEmpty());
  // Eight bytes hold no other packet.
  EXPECT_THAT(analyse(begin + "7 A>B SEND_ONLY 108").now, ElementsAre(HasSubstr("5 gap 107")));
}

TEST(CutPackets, DatagramWithoutItsSourceQpBelongsToNoStream) {
  const Findings found = analyse("0 A>B UD_SEND_ONLY 100 snap=15");
  EXPECT_THAT(found.streams, IsEmpty());
}

}  // namespace
}  // namespace roce::analysis
