// SPDX-License-Identifier: BSD-2-Clause
// Judgements of heuristics.h that no other test holds: each is tried on both sides of its number.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// kCopyOfGoBackPart
TEST(Heuristics, ACopyOfAGoBackFollowsSoonerThanOneOfANewRequest) {
  const auto twice = [](double second) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY     100  v1 ar
     1  A>B  SEND_ONLY     101  v1 ar
    10  B>A  NAK_SEQUENCE  100  v1
    40  A>B  SEND_ONLY     100  v1 ar
    {}  A>B  SEND_ONLY     100  v1 ar)",
                               second));
  };
  EXPECT_THAT(twice(40.2).now, Contains(HasSubstr("5 duplicate 100")));
  EXPECT_THAT(twice(40.3).now, Contains(HasSubstr("5 retransmission 100")));
}

// kRequestOvertaken
TEST(Heuristics, TheFirstPacketOfACaptureIsLateByTwentyMicrosecondsAtMost) {
  const auto late = [](int time) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_MIDDLE  101  v6
    {}  A>B  SEND_FIRST   100  v6)",
                               time));
  };
  EXPECT_THAT(late(19).now, ElementsAre(HasSubstr("2 out_of_order 100")));
  EXPECT_THAT(late(21).now, Not(Contains(HasSubstr("out_of_order"))));
}

// kTimeoutVariesBy
TEST(Heuristics, AnAckTimeoutMayBeShorterByAnEighthThanTheShortestSeen) {
  const auto nacked_then_silent = [](int sent_again) {
    return analyse(fmt::format(R"(
         0  A>B  SEND_ONLY     100  ar
        10  B>A  ACK           100
        20  A>B  SEND_ONLY     101  ar
     67020  A>B  SEND_ONLY     101  ar    # its ACK timeout is 67 ms
     67030  B>A  ACK           101
    100000  A>B  SEND_ONLY     102  ar
    100010  B>A  NAK_SEQUENCE  102
        {}  A>B  SEND_ONLY     102  ar)",
                               sent_again));
  };
  EXPECT_THAT(nacked_then_silent(159'000).now, Contains(HasSubstr("8 retransmission 102 cause=timeout")));
  EXPECT_THAT(nacked_then_silent(158'000).now, Contains(HasSubstr("8 retransmission 102 cause=nak")));
}

// kNakComesAfterPart
TEST(Heuristics, ANakThatComesWithinHalfTheLatencyIsAboutTheTransmissionBefore) {
  const auto nacked = [](double time) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY     100  ar
    20  B>A  ACK           100
   100  A>B  SEND_ONLY     101  ar
   101  A>B  SEND_ONLY     102  ar
   110  B>A  NAK_SEQUENCE  101
   130  A>B  SEND_ONLY     101  ar
    {}  B>A  NAK_SEQUENCE  101
   160  A>B  SEND_ONLY     101  ar
   161  A>B  SEND_ONLY     102  ar
   170  B>A  ACK           102)",
                               time));
  };
  EXPECT_THAT(nacked(135.1).later, Contains(HasSubstr("6 request_lost_after 101")));
  EXPECT_THAT(nacked(134.9).later, Not(Contains(HasSubstr("6 request_lost_after 101"))));
}

// kLatenciesAlike, kLatencyVariesBy
TEST(Heuristics, ALatencyThatWasSeenTwiceIsTheLeast) {
  const auto nacked = [](double before) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY     100  ar
    {}  B>A  ACK           100
   100  A>B  SEND_ONLY     101  ar
   101  A>B  SEND_ONLY     102  ar
   110  B>A  NAK_SEQUENCE  101
   130  A>B  SEND_ONLY     101  ar
   139  B>A  NAK_SEQUENCE  101
   160  A>B  SEND_ONLY     101  ar
   161  A>B  SEND_ONLY     102  ar
   170  B>A  ACK           102)",
                               before));
  };
  EXPECT_THAT(nacked(11.5).later, Contains(HasSubstr("6 request_lost_after 101")));
  EXPECT_THAT(nacked(11.4).later, Not(Contains(HasSubstr("6 request_lost_after 101"))));
}

// kAnswerComesAfterPart
TEST(Heuristics, AnAnswerWithinAnEighthOfTheLatencyIsToTheTransmissionBefore) {
  const auto answered = [](double time) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY     99   ar
     8  B>A  ACK           99
    20  A>B  SEND_ONLY     100  ar
    21  A>B  SEND_ONLY     101  ar
    31  B>A  NAK_SEQUENCE  100
    35  A>B  SEND_ONLY     100  ar
    {}  B>A  ACK           100
    37  A>B  SEND_ONLY     101  ar
    47  B>A  ACK           101)",
                               time));
  };
  EXPECT_THAT(answered(35.9).later, Contains(HasSubstr("3 request_late_after 100")));
  EXPECT_THAT(answered(36.1).later, Contains(HasSubstr("3 request_lost_after 100")));
}

// kAckAhead
TEST(Heuristics, AnAckFarAheadOfAllRequestsBelongsToSomethingElse) {
  const auto ahead = [](int psns) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY  100  ar
    10  B>A  ACK        100
    20  B>A  ACK        {})",
                               101 + psns));
  };
  EXPECT_THAT(ahead(0x1'0000).now, Contains(HasSubstr("3 ack_of_unseen 101x65537")));
  EXPECT_THAT(ahead(0x1'0001).now, Not(Contains(HasSubstr("ack_of_unseen"))));
}

// kRequestsOfIdle
TEST(Heuristics, AnOldMessageAfterTwoRequestsThatAreDoneIsOfAnotherConnection) {
  const std::string one = R"(
     0  A>B  SEND_ONLY  100  ar
    10  B>A  ACK        100)";
  const std::string two = one + R"(
    20  A>B  SEND_ONLY  101  ar
    30  B>A  ACK        101)";
  const std::string old = R"(
   100  A>B  SEND_ONLY   50  ar)";
  EXPECT_EQ(analyse(one + old).streams.size(), 1U);
  EXPECT_EQ(analyse(two + old).streams.size(), 2U);
}

// kEagerSearches
TEST(Heuristics, ResponsesLookForTheirRequestsHoweverManyRequestsTheirSenderHasMade) {
  std::string trace;
  for (int i = 0; i < 17; ++i) trace += fmt::format("{} B>A SEND_ONLY {}\n", i, 5000 + i);
  EXPECT_EQ(analyse(trace + "30 A>B SEND_ONLY 7000 ar\n40 B>A ACK 7000\n").streams.size(), 1U);
}

// kSearchEvery
TEST(Heuristics, ResponsesLookForTheirRequestsAgainAfterSixtyFour) {
  const auto streams_after = [](int responses) {
    std::string trace;
    for (int i = 0; i < 20; ++i) trace += fmt::format("{} B>A ACK {}\n", i, 5000 + i);
    trace += "30 A>B SEND_ONLY 7000 ar\n";
    for (int i = 20; i < responses; ++i) trace += fmt::format("{} B>A ACK 7000\n", 20 + i);
    return analyse(trace).streams.size();
  };
  EXPECT_EQ(streams_after(64), 2U);
  EXPECT_EQ(streams_after(66), 1U);
}

// kCorruptedKept
TEST(Heuristics, OfDamagedRequestsTheNewestSixteenAreRemembered) {
  const auto damaged_before = [](int others) {
    std::string trace = "0 A>B SEND_ONLY 100 ar\n1 A>B SEND_ONLY 101 bad\n";
    for (int i = 0; i < others; ++i) trace += fmt::format("{} A>B SEND_ONLY {} bad\n", 2 + i, 200 + i);
    trace += "40 A>B SEND_ONLY 102 ar\n41 B>A NAK_SEQUENCE 101\n60 A>B SEND_ONLY 101 ar\n61 A>B SEND_ONLY 102 ar\n";
    return analyse(trace + "70 B>A ACK 102\n");
  };
  EXPECT_THAT(damaged_before(15).later, Contains(HasSubstr("101 cause=corrupted")));
  EXPECT_THAT(damaged_before(16).later, Not(Contains(HasSubstr("101 cause=corrupted"))));
}

// kCmRequestsKept
TEST(Heuristics, OfConnectionRequestsTheNewestTwoHundredAndFiftySixAreRemembered) {
  const auto joined_after = [](int requests) {
    std::string trace;
    for (int i = 0; i < requests; ++i) {
      trace += fmt::format(
          "{} A>B UD_SEND_ONLY {} qp=1 headers=cm_req mad.mgmt_class=7 mad.attribute_id=0x10 "
          "cm_req.local_comm_id={} cm_req.local_qpn={}\n",
          i, i, 1000 + i, 0x11 + i);
    }
    trace +=
        "1000 B>A UD_SEND_ONLY 1 qp=1 headers=cm_rep mad.mgmt_class=7 mad.attribute_id=0x13 cm_rep.local_comm_id=72 "
        "cm_rep.remote_comm_id=1000 cm_rep.local_qpn=0x22\n"
        "1010 A>B SEND_ONLY 100 ar\n1020 B>A SEND_ONLY 900 ar\n";
    return analyse(trace).streams.size();
  };
  EXPECT_EQ(joined_after(256) + 1, joined_after(257));
}

// kMostIds
TEST(Heuristics, TheOrderOfAcksIsJudgedUpToFourThousandAndNinetySixPacketsApart) {
  const auto msn_falls_after = [](int packets) {
    return analyse(fmt::format(R"(
     0  A>B  SEND_ONLY  100  ar
     1  A>B  SEND_ONLY  101  ar
    10  B>A  ACK        100  id=7 aeth.msn=5
    11  B>A  ACK        101  id={} aeth.msn=4)",
                               7 + packets));
  };
  EXPECT_THAT(msn_falls_after(4096).now, Contains(HasSubstr("4 rule_broken 101 rule=RC-RESP-17")));
  EXPECT_THAT(msn_falls_after(4097).now, Not(Contains(HasSubstr("rule_broken"))));
}

// kOldAnswersComeForPart
TEST(Heuristics, AResponseWithinAnEighthOfTheLatencyIsOfTheAnswerBefore) {
  const auto passed = [](int first, int last) {
    return analyse(fmt::format(R"(
      0  A>B  SEND_ONLY   99  ar
     80  B>A  ACK         99
    100  A>B  READ       100  dma=700
   5000  A>B  READ       100  dma=700
     {}  B>A  FIRST      100
     {}  B>A  LAST       102
   5200  A>B  READ       101  dma=444)",
                               first, last));
  };
  EXPECT_THAT(passed(5010, 5011).later, Contains(HasSubstr("6 response_lost_before 101")));
  EXPECT_THAT(passed(5008, 5009).later, Not(Contains(HasSubstr("response_lost_before 101"))));
}

// kNewAnswerTakesPart
TEST(Heuristics, AResponseWithinHalfTheLatencyMayBeOfTheAnswerBefore) {
  const auto passed = [](int time) {
    return analyse(fmt::format(R"(
      0  A>B  SEND_ONLY   99  ar
     80  B>A  ACK         99
    100  A>B  READ       100  dma=700
    180  B>A  FIRST      100
    181  B>A  MIDDLE     101
    182  B>A  LAST       102
   5000  A>B  READ       100  dma=700
     {}  B>A  MIDDLE     101
   5200  A>B  READ       100  dma=700)",
                               time));
  };
  EXPECT_THAT(passed(5041).later, Contains(HasSubstr("7 response_lost_before 100")));
  EXPECT_THAT(passed(5039).later, Not(Contains(HasSubstr("response_lost_before"))));
}

// kReadsKept
TEST(Heuristics, OfAnsweredReadsTheNewestSixtyFourAreRemembered) {
  const auto first_again_after = [](int reads) {
    std::string trace;
    for (int i = 0; i < reads; ++i) {
      trace += fmt::format("{} A>B READ {} dma=64\n{} B>A ONLY {}\n", 10 * i, 100 + i, 10 * i + 5, 100 + i);
    }
    return analyse(trace + "1000 A>B READ 100 dma=64\n1005 B>A ONLY 100\n");
  };
  EXPECT_THAT(first_again_after(64).now, Contains(HasSubstr("130 response_repeated 100")));
  EXPECT_THAT(first_again_after(65).now, Not(Contains(HasSubstr("response_repeated"))));
}

// kNaksKept
TEST(Heuristics, OfNaksWithoutAReactionTheNewestEightAreRemembered) {
  const auto naks = [](int count) {
    std::string trace;
    for (int i = 0; i < 12; ++i) trace += fmt::format("{} A>B SEND_ONLY {} ar\n", i, 100 + i);
    for (int i = 0; i < count; ++i) trace += fmt::format("{} B>A NAK_SEQUENCE {}\n", 20 + i, 101 + i);
    return analyse(trace + "50 A>B SEND_ONLY 101 ar\n");
  };
  EXPECT_THAT(naks(8).now, Contains(HasSubstr("21 retransmission 101 cause=nak")));
  EXPECT_THAT(naks(9).now, Contains(HasSubstr("22 retransmission 101 cause=unknown")));
}

}  // namespace
}  // namespace roce::analysis
