// SPDX-License-Identifier: BSD-2-Clause
// Verdicts on a requester that has used up its end-to-end credits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// REQ and REP, two frames that prove which two flows are one connection.
constexpr std::string_view kConnection =
    "-9 A>B UD_SEND_ONLY 1 qp=1 headers=cm_req mad.mgmt_class=7 mad.attribute_id=0x10 cm_req.local_comm_id=71 "
    "cm_req.local_qpn=0x11\n"
    "-8 B>A UD_SEND_ONLY 1 qp=1 headers=cm_rep mad.mgmt_class=7 mad.attribute_id=0x13 cm_rep.local_comm_id=81 "
    "cm_rep.remote_comm_id=71 cm_rep.local_qpn=0x22\n";

std::vector<std::string> stalls(std::string_view trace) {
  std::vector<std::string> all;
  for (const std::string& text : analyse(std::string{kConnection} + std::string{trace}).now) {
    if (text.find("credit_stall") != std::string::npos) all.push_back(text);
  }
  return all;
}

// One message is acknowledged with credit for one more; this one and a probe are sent.
const std::string kProbe = R"(
     0  A>B  SEND_ONLY    100  ar
    10  B>A  ACKNOWLEDGE  100  aeth.syndrome=1 aeth.msn=1
    20  A>B  SEND_ONLY    101  ar
    21  A>B  SEND_ONLY    102  ar
    30  B>A  ACKNOWLEDGE  101  aeth.syndrome=0 aeth.msn=2
)";

TEST(CreditStall, EndsWithAnAckThatOnlyGivesCredits) {
  EXPECT_THAT(stalls(kProbe + "530 B>A ACKNOWLEDGE 101 aeth.syndrome=4 aeth.msn=2\n540 A>B SEND_ONLY 103"),
              ElementsAre("8 credit_stall 101 of=6 after=509us"));
}

TEST(CreditStall, EndsWhenARefusedProbeIsTaken) {
  EXPECT_THAT(stalls(kProbe + "31 B>A RNR 102 aeth.msn=2\n700 A>B SEND_ONLY 102 ar\n"
                              "710 B>A ACKNOWLEDGE 102 aeth.syndrome=4 aeth.msn=3"),
              ElementsAre("10 credit_stall 102 of=6 after=689us"));
}

TEST(CreditStall, IsNoneWhereTheProbeIsTakenAtOnce) {
  EXPECT_THAT(stalls(kProbe + "31 B>A ACKNOWLEDGE 102 aeth.syndrome=0 aeth.msn=3"), IsEmpty());
}

TEST(CreditStall, IsNoneWithoutAProbe) {
  EXPECT_THAT(stalls(R"(
     0  A>B  SEND_ONLY    100  ar
    10  B>A  ACKNOWLEDGE  100  aeth.syndrome=1 aeth.msn=1
    20  A>B  SEND_ONLY    101  ar
    30  B>A  ACKNOWLEDGE  101  aeth.syndrome=0 aeth.msn=2
   500  B>A  ACKNOWLEDGE  101  aeth.syndrome=4 aeth.msn=2)"),
              IsEmpty());
}

TEST(CreditStall, IsNoneOfARequesterThatIgnoresCredits) {
  EXPECT_THAT(stalls(kProbe + "40 A>B SEND_ONLY 103\n530 B>A ACKNOWLEDGE 101 aeth.syndrome=4 aeth.msn=2"), IsEmpty());
}

TEST(CreditStall, IsNoneWithoutALimit) {
  EXPECT_THAT(stalls(kProbe + "40 B>A ACK 101 aeth.msn=2\n530 B>A ACKNOWLEDGE 101 aeth.syndrome=4 aeth.msn=2"),
              IsEmpty());
}

TEST(CreditStall, IsNoneWhereRequestsAreMissing) {
  EXPECT_THAT(stalls(R"(
     0  A>B  SEND_ONLY    100  ar
    10  B>A  ACKNOWLEDGE  100  aeth.syndrome=1 aeth.msn=1
    21  A>B  SEND_ONLY    102  ar
    30  B>A  ACKNOWLEDGE  101  aeth.syndrome=0 aeth.msn=2
   530  B>A  ACKNOWLEDGE  101  aeth.syndrome=4 aeth.msn=2)"),
              IsEmpty());
}

TEST(CreditStall, WritesNeedNoCredits) {
  EXPECT_THAT(stalls(R"(
     0  A>B  SEND_ONLY    100  ar
    10  B>A  ACKNOWLEDGE  100  aeth.syndrome=1 aeth.msn=1
    20  A>B  WRITE_ONLY   101  ar
    21  A>B  WRITE_ONLY   102  ar
    30  B>A  ACKNOWLEDGE  101  aeth.syndrome=0 aeth.msn=2
   530  B>A  ACKNOWLEDGE  101  aeth.syndrome=4 aeth.msn=2)"),
              IsEmpty());
}

TEST(CreditStall, AcrossTheWrapOfTheMsn) {
  EXPECT_THAT(stalls(R"(
     0  A>B  SEND_ONLY    100  ar
    10  B>A  ACKNOWLEDGE  100  aeth.syndrome=1 aeth.msn=0xfffffe
    20  A>B  SEND_ONLY    101  ar
    21  A>B  SEND_ONLY    102  ar
    30  B>A  ACKNOWLEDGE  101  aeth.syndrome=0 aeth.msn=0xffffff
   530  B>A  ACKNOWLEDGE  101  aeth.syndrome=4 aeth.msn=0xffffff)"),
              ElementsAre("8 credit_stall 101 of=6 after=509us"));
}

}  // namespace
}  // namespace roce::analysis
