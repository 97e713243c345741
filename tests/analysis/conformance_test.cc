// SPDX-License-Identifier: BSD-2-Clause
// The rules that an end breaks; next to each, cases that look like it but are allowed, or may be caused by the capture.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Returns only the `rule_broken` verdicts.
std::vector<std::string> broken(std::string_view trace, const TrackerOptions& options = {}) {
  std::vector<std::string> all;
  for (const std::string& text : analyse(trace, options).now) {
    if (text.find("rule_broken") != std::string::npos) all.push_back(text);
  }
  return all;
}

TEST(RuleNames, AreThoseOfTheirInfos) {
  for (const RuleInfo& info : rule_infos()) {
    SCOPED_TRACE(info.identifier);
    EXPECT_EQ(rule_from_identifier(info.identifier), info.rule);
    EXPECT_EQ(&rule_info(info.rule), &info);
    EXPECT_FALSE(info.text.empty());
    EXPECT_FALSE(info.text.ends_with('.'));
  }
  EXPECT_EQ(rule_from_identifier(""), std::nullopt);
  EXPECT_EQ(rule_from_identifier("RC-RESP"), std::nullopt);
  EXPECT_EQ(rule_info(Rule::none).identifier, "");
  EXPECT_EQ(verdict_of(Rule::pause), VerdictKind::sent_while_paused);
  EXPECT_EQ(verdict_of(Rule::padding), VerdictKind::rule_broken);
}

TEST(PacketRules, TransportVersion) {
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 bth.tver=1"), ElementsAre("1 rule_broken 100 rule=W-BTH-2"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 bth.tver=1 bad"), IsEmpty());
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 bth.tver=1 cut"), IsEmpty());
}

TEST(PacketRules, Padding) {
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 len=62 pad="), ElementsAre("1 rule_broken 100 rule=W-PAD-1"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 len=62"), IsEmpty());
  EXPECT_THAT(broken("0 A>B READ 100\n9 B>A ONLY 100 len=61 pad=00"), ElementsAre("2 rule_broken 100 rule=W-PAD-1"));
}

TEST(PacketRules, ACopyIsNoSecondBreach) {
  EXPECT_THAT(
      broken("0 A>B SEND_ONLY 100 bth.tver=1 id=7\n1 A>B SEND_ONLY 101 id=8\n2 A>B SEND_ONLY 100 bth.tver=1 id=7"),
      SizeIs(1));
}

TEST(RequesterRules, PayloadThatNoPathMtuAllows) {
  EXPECT_THAT(broken("0 A>B SEND_FIRST 100 len=300"), ElementsAre("1 rule_broken 100 rule=RC-REQ-02"));
  EXPECT_THAT(broken("0 A>B UC_WRITE_MIDDLE 100 len=128"), ElementsAre("1 rule_broken 100 rule=RC-REQ-02"));
  EXPECT_THAT(broken("0 A>B SEND_LAST 100 len=0"), ElementsAre("1 rule_broken 100 rule=RC-REQ-02"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 len=4100"), ElementsAre("1 rule_broken 100 rule=RC-REQ-02"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 len=4096\n1 A>B SEND_ONLY 101 len=0"), IsEmpty());
  // Several packets may have been captured as one.
  EXPECT_THAT(broken("0 A>B SEND_FIRST 100 len=300 cut"), IsEmpty());
}

TEST(RequesterRules, PayloadThatIsNotTheOneBefore) {
  EXPECT_THAT(broken(R"(
      0  A>B  SEND_FIRST   100  len=512
      1  A>B  SEND_MIDDLE  101  len=256
      2  A>B  SEND_LAST    102)"),
              ElementsAre("2 rule_broken 101 rule=RC-REQ-02"));
  EXPECT_THAT(broken(R"(
      0  A>B  SEND_FIRST   100
      1  A>B  SEND_LAST    101  len=260)"),
              ElementsAre("2 rule_broken 101 rule=RC-REQ-02"));
  EXPECT_THAT(broken(R"(
      0  A>B  SEND_FIRST   100
      1  A>B  SEND_MIDDLE  101
      2  A>B  SEND_LAST    102  len=256)"),
              IsEmpty());
  // Another path MTU in another message may be another connection with the same numbers.
  EXPECT_THAT(broken(R"(
      0  A>B  SEND_FIRST   100
      1  A>B  SEND_LAST    101
      2  A>B  SEND_FIRST   102  len=512)"),
              IsEmpty());
}

TEST(RequesterRules, OpcodesInTheWrongOrder) {
  const std::string first = "0 A>B SEND_FIRST 100\n";
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100\n1 A>B SEND_MIDDLE 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100\n1 A>B SEND_LAST 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken(first + "1 A>B SEND_FIRST 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken(first + "1 A>B SEND_ONLY 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken(first + "1 A>B READ 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken(first + "1 A>B WRITE_LAST 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken("0 A>B UC_SEND_ONLY 100\n1 A>B UC_SEND_LAST 101"),
              ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
  EXPECT_THAT(broken("0 A>B FETCH_ADD 100\n1 A>B SEND_LAST 101"), ElementsAre("2 rule_broken 101 rule=RC-REQ-30"));
}

TEST(RequesterRules, OpcodesInAnOrderThatMayBeRight) {
  const std::string first = "0 A>B SEND_FIRST 100\n";
  EXPECT_THAT(broken(first + "1 A>B SEND_LAST_IMM 101\n2 A>B READ 102 dma=64\n3 A>B SEND_ONLY 103"), IsEmpty());
  // The capture starts in the middle of a message.
  EXPECT_THAT(broken("0 A>B SEND_MIDDLE 100\n1 A>B SEND_LAST 101\n2 A>B SEND_ONLY 102"), IsEmpty());
  // The packets in between were not seen.
  EXPECT_THAT(broken(first + "1 A>B SEND_ONLY 102\n2 A>B SEND_LAST 104"), IsEmpty());
  // The MIDDLE was overtaken by the LAST.
  EXPECT_THAT(broken(first + "1 A>B SEND_LAST 102\n2 A>B SEND_MIDDLE 101 id=2\n3 A>B SEND_ONLY 103 id=4"), IsEmpty());
  // It is unknown where the READ ends.
  EXPECT_THAT(broken("0 A>B READ 100 dma=1024\n1 A>B SEND_LAST 101"), IsEmpty());
  // The PSNs are used again: the earlier packets belong to another connection.
  EXPECT_THAT(broken("0 A>B SEND_FIRST 100\n1 A>B SEND_MIDDLE 101\n9000 A>B SEND_ONLY 100\n9001 A>B SEND_ONLY 101\n"
                     "9002 A>B SEND_ONLY 102"),
              IsEmpty());
  // The go-back begins inside the message.
  EXPECT_THAT(broken(R"(
         0  A>B  SEND_FIRST   100
         1  A>B  SEND_MIDDLE  101
         2  A>B  SEND_LAST    102  ar
      5000  A>B  SEND_MIDDLE  101
      5001  A>B  SEND_LAST    102  ar
      5002  A>B  SEND_ONLY    103)"),
              IsEmpty());
}

TEST(RequesterRules, WriteLength) {
  EXPECT_THAT(broken("0 A>B WRITE_ONLY 100 len=64 dma=60"), ElementsAre("1 rule_broken 100 rule=RC-REQ-31"));
  EXPECT_THAT(broken("0 A>B WRITE_FIRST 100 dma=256"), ElementsAre("1 rule_broken 100 rule=RC-REQ-31"));
  const std::string begin = "0 A>B WRITE_FIRST 100 dma=600\n1 A>B WRITE_MIDDLE 101\n";
  EXPECT_THAT(broken(begin + "2 A>B WRITE_LAST 102 len=92"), ElementsAre("3 rule_broken 102 rule=RC-REQ-31"));
  EXPECT_THAT(broken(begin + "2 A>B WRITE_MIDDLE 102"), ElementsAre("3 rule_broken 102 rule=RC-REQ-31"));
  EXPECT_THAT(broken(begin + "2 A>B WRITE_LAST 102 len=88"), IsEmpty());
  EXPECT_THAT(broken("0 A>B WRITE_ONLY 100 len=0 dma=0\n1 A>B WRITE_ONLY_IMM 101 len=8 dma=8"), IsEmpty());
  // The RETH, or a packet in between, was not seen.
  EXPECT_THAT(broken("0 A>B WRITE_MIDDLE 101\n1 A>B WRITE_LAST 102 len=92"), IsEmpty());
  EXPECT_THAT(broken("0 A>B WRITE_FIRST 100 dma=600\n1 A>B WRITE_LAST 102 len=92"), IsEmpty());
  EXPECT_THAT(broken("0 A>B WRITE_ONLY 100 len=64 dma=60 cut"), IsEmpty());
}

const std::string kGap = "0 A>B SEND_ONLY 100\n1 A>B SEND_ONLY 102\n10 B>A NAK_SEQUENCE 101 id=7 aeth.msn=1\n";

TEST(ResponderRules, NakRepeatedForOneGap) {
  EXPECT_THAT(broken(kGap + "11 A>B SEND_ONLY 103\n20 B>A NAK_SEQUENCE 101 id=8 aeth.msn=1"),
              ElementsAre("5 rule_broken 101 rule=RC-RESP-02 of=3 after=10us"));
  // The rule is also checked if the requests are not in the capture.
  EXPECT_THAT(broken("0 B>A NAK_SEQUENCE 101 id=7\n10 B>A NAK_SEQUENCE 101 id=8"),
              ElementsAre("2 rule_broken 101 rule=RC-RESP-02 of=1 after=10us"));
}

TEST(ResponderRules, NakThatMayBeForAnotherGap) {
  // The second NAK is a copy of the first.
  EXPECT_THAT(broken(kGap + "20 B>A NAK_SEQUENCE 101 id=7 aeth.msn=1"), IsEmpty());
  // The capture missed a response in between: an RNR NAK for the missing request.
  EXPECT_THAT(broken(kGap + "20 B>A NAK_SEQUENCE 101 id=9 aeth.msn=1"), IsEmpty());
  // The capture has this RNR NAK.
  EXPECT_THAT(broken(kGap + "15 A>B SEND_ONLY 101\n20 B>A RNR 101 id=8 aeth.msn=1\n"
                            "21 B>A NAK_SEQUENCE 101 id=9 aeth.msn=1"),
              IsEmpty());
  // The NAK is for the next gap.
  EXPECT_THAT(broken(kGap + "20 B>A NAK_SEQUENCE 103 id=8 aeth.msn=2"), IsEmpty());
  // The PSNs have wrapped and come round to the same value.
  EXPECT_THAT(broken(kGap + "90000 B>A NAK_SEQUENCE 101 id=8 aeth.msn=1"), IsEmpty());
  // Without identifications that count up, the network may have made a copy.
  EXPECT_THAT(broken("0 B>A NAK_SEQUENCE 101 id=0\n10 B>A NAK_SEQUENCE 101 id=0"), IsEmpty());
  EXPECT_THAT(broken("0 B>A NAK_SEQUENCE 101 v6\n10 B>A NAK_SEQUENCE 101 v6"), IsEmpty());
}

TEST(ResponderRules, MsnGoesBackwards) {
  const std::string sends = "0 A>B SEND_ONLY 100 ar\n1 A>B SEND_ONLY 101 ar\n10 B>A ACK 100 id=7 aeth.msn=5\n";
  EXPECT_THAT(broken(sends + "11 B>A ACK 101 id=8 aeth.msn=4"),
              ElementsAre("4 rule_broken 101 rule=RC-RESP-17 of=3 after=1us"));
  EXPECT_THAT(broken("0 A>B SEND_ONLY 100 ar\n1 A>B SEND_ONLY 101 ar\n10 B>A ACK 100 id=7 aeth.msn=0xffffff\n"
                     "11 B>A ACK 101 id=8 aeth.msn=0"),
              IsEmpty());
  EXPECT_THAT(broken(sends + "11 B>A ACK 101 id=8 aeth.msn=5"), IsEmpty());
  // The second ACK was sent before the first and overtaken by it.
  EXPECT_THAT(broken(sends + "11 B>A ACK 101 id=6 aeth.msn=4"), IsEmpty());
  // It is unknown which of the two was sent first.
  EXPECT_THAT(broken(sends + "11 B>A ACK 101 id=7 aeth.msn=4"), IsEmpty());
  // Another connection with the same QPNs begins to count at 0.
  EXPECT_THAT(broken(sends + "20 A>B WRITE_ONLY 100 ar\n30 B>A ACK 101 id=9 aeth.msn=1"), IsEmpty());
  EXPECT_THAT(broken(sends + "30 B>A NAK_SEQUENCE 100 id=8 aeth.msn=0"), IsEmpty());
}

// REQ and REP, two frames that prove which two flows are one connection.
const std::string kConnection =
    "-9 A>B UD_SEND_ONLY 1 qp=1 headers=cm_req mad.mgmt_class=7 mad.attribute_id=0x10 cm_req.local_comm_id=71 "
    "cm_req.local_qpn=0x11\n"
    "-8 B>A UD_SEND_ONLY 1 qp=1 headers=cm_rep mad.mgmt_class=7 mad.attribute_id=0x13 cm_rep.local_comm_id=81 "
    "cm_rep.remote_comm_id=71 cm_rep.local_qpn=0x22\n";
// A READ whose first packet is known to have been seen.
const std::string kRead = kConnection + "0 A>B SEND_ONLY 99\n1 A>B READ 100 dma=700\n";

TEST(ResponderRules, AnswerInTheWrongOrder) {
  EXPECT_THAT(broken(kRead + "9 B>A MIDDLE 100"), ElementsAre("5 rule_broken 100 rule=RC-RESP-20 of=4"));
  EXPECT_THAT(broken(kRead + "9 B>A LAST 100"), ElementsAre("5 rule_broken 100 rule=RC-RESP-20 of=4"));
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100\n10 B>A MIDDLE 101 len=512"),
              ElementsAre("6 rule_broken 101 rule=RC-RESP-20 of=4"));
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100 len=252"), ElementsAre("5 rule_broken 100 rule=RC-RESP-20"));
  EXPECT_THAT(broken(kRead + "9 B>A LAST 102 len=0"), ElementsAre("5 rule_broken 102 rule=RC-RESP-20"));
}

TEST(ResponderRules, AnswerOfTheWrongLength) {
  const std::string two = kRead + "9 B>A FIRST 100\n10 B>A MIDDLE 101\n";
  EXPECT_THAT(broken(two + "11 B>A LAST 102 len=184"), ElementsAre("7 rule_broken 102 rule=RC-RESP-33 of=4"));
  EXPECT_THAT(broken(two + "11 B>A LAST 102 len=192"), ElementsAre("7 rule_broken 102 rule=RC-RESP-33 of=4"));
  EXPECT_THAT(broken(two + "11 B>A MIDDLE 102"), ElementsAre("7 rule_broken 102 rule=RC-RESP-33 of=4"));
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100\n10 B>A LAST 101 len=256"),
              ElementsAre("6 rule_broken 101 rule=RC-RESP-33 of=4"));
  EXPECT_THAT(broken(kRead + "9 B>A ONLY 100 len=256"), ElementsAre("5 rule_broken 100 rule=RC-RESP-33 of=4"));
  EXPECT_THAT(broken(kConnection + "0 A>B READ 100 dma=200\n9 B>A FIRST 100"),
              ElementsAre("4 rule_broken 100 rule=RC-RESP-33 of=3"));
}

TEST(ResponderRules, AnswersThatAreRight) {
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100\n10 B>A MIDDLE 101\n11 B>A LAST 102 len=188"), IsEmpty());
  EXPECT_THAT(broken(kConnection + "0 A>B READ 100 dma=512\n9 B>A FIRST 100\n10 B>A LAST 101 len=256"), IsEmpty());
  EXPECT_THAT(broken(kConnection + "0 A>B READ 100 dma=0\n9 B>A ONLY 100 len=0"), IsEmpty());
  // Parts of the answer were not seen.
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100\n11 B>A LAST 102 len=188"), IsEmpty());
  // Only the missing packet was requested again, and the capture does not have this request.
  EXPECT_THAT(broken(kRead + "9 B>A FIRST 100\n11 B>A LAST 102 len=188\n900 B>A ONLY 101 len=256"), IsEmpty());
  // The READ may be the rest of one that was not seen: rxe continues with MIDDLE and LAST.
  EXPECT_THAT(
      broken(kConnection + "1 A>B READ 100 dma=700\n9 B>A MIDDLE 100\n10 B>A MIDDLE 101\n11 B>A LAST 102 len=188"),
      IsEmpty());
  // A READ is requested again from its middle: rxe continues the answer, others begin a new one.
  const std::string tail = kRead + "9 B>A FIRST 100\n10 B>A LAST 102 len=188\n12 A>B READ 101 dma=444\n";
  EXPECT_THAT(broken(tail + "20 B>A MIDDLE 101\n21 B>A LAST 102 len=188"), IsEmpty());
  EXPECT_THAT(broken(tail + "20 B>A FIRST 101\n21 B>A LAST 102 len=188"), IsEmpty());
  const std::string end = kRead + "9 B>A FIRST 100\n10 B>A MIDDLE 101\n5000 A>B READ 102 dma=188\n";
  EXPECT_THAT(broken(end + "5020 B>A ONLY 102 len=188"), IsEmpty());
  EXPECT_THAT(broken(end + "5020 B>A LAST 102 len=188"), IsEmpty());
}

TEST(ResponderRules, TheNumbersOfTheReadMayBeUsedTwice) {
  EXPECT_THAT(broken(kRead + "5000 A>B READ 100 dma=64\n5009 B>A ONLY 100 len=64"), IsEmpty());
  EXPECT_THAT(broken(kRead + "5000 A>B SEND_ONLY 100 ar\n5009 B>A ONLY 100 len=64"), IsEmpty());
}

// Returns `count` messages and their ACKs from PSN 0 on.
std::string messages(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("{} A>B SEND_ONLY {} ar\n{} B>A ACK {} aeth.msn={}\n", i * 10 - 9000, i, i * 10 - 8995, i, i);
  }
  return text;
}

TEST(ResponderRules, AResponseOfAnotherConnection) {
  const std::string short_answer = "1 A>B READ 70 dma=700\n9 B>A ONLY 70 len=64 aeth.msn=70\n";
  EXPECT_THAT(broken(messages(70) + short_answer), ElementsAre("142 rule_broken 70 rule=RC-RESP-33 of=141"));
  // So few packets do not prove that all connections have been seen.
  EXPECT_THAT(broken("0 A>B SEND_ONLY 69\n" + short_answer), IsEmpty());
  // Another connection of the same hosts uses the same UDP source port, or the responder uses another port.
  EXPECT_THAT(broken(messages(70) + "0 A>B SEND_ONLY 0 qp=0x23\n" + short_answer), IsEmpty());
  EXPECT_THAT(broken(messages(70) + "0 A>C SEND_ONLY 0 qp=0x23\n" + short_answer), SizeIs(1));
  std::string other_port = messages(70) + short_answer;
  for (std::size_t at = 0; (at = other_port.find("B>A", at)) != std::string::npos; at += 3) {
    other_port.insert(other_port.find('\n', at), " port=50000");
  }
  EXPECT_THAT(broken(other_port), IsEmpty());
}

std::string cnps(int count, double begin, double spacing, int first_id) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{} B>A CNP 0 id={}\n", begin + i * spacing, first_id + i);
  return text;
}

TEST(CnpRules, FasterThanTheirInterval) {
  TrackerOptions options;
  options.cnp_interval = std::chrono::microseconds{50};
  // Each CNP is 40 us early; the network may account for 1 ms in total.
  EXPECT_THAT(broken(cnps(26, 0, 10, 1), options), IsEmpty());
  EXPECT_THAT(broken(cnps(27, 0, 10, 1), options), ElementsAre("27 rule_broken 0 rule=CC-01 of=26 after=10us"));
  EXPECT_THAT(broken(cnps(60, 0, 10, 1), options), SizeIs(2));
  EXPECT_THAT(broken(cnps(500, 0, 50, 1), options), IsEmpty());
  // The CNPs are held back for 1 ms and then released at once.
  EXPECT_THAT(broken(cnps(20, 0, 50, 1) + cnps(20, 2000, 0.1, 21) + cnps(20, 2050, 50, 41), options), IsEmpty());
  // The interval is not configured.
  EXPECT_THAT(broken(cnps(60, 0, 10, 1)), IsEmpty());
}

TEST(CnpRules, CopiesDoNotCount) {
  TrackerOptions options;
  options.cnp_interval = std::chrono::microseconds{50};
  std::string twice;
  for (int i = 0; i < 100; ++i) twice += cnps(1, i * 50, 0, i + 1) + cnps(1, i * 50 + 1, 0, i + 1);
  EXPECT_THAT(broken(twice, options), IsEmpty());
  std::string constant;
  for (int i = 0; i < 100; ++i) constant += cnps(1, i * 10, 0, 0);
  EXPECT_THAT(broken(constant, options), IsEmpty());
}

TEST(Rules, AreCountedByStream) {
  const Findings found = analyse("0 A>B SEND_ONLY 100 bth.tver=1\n1 A>B SEND_ONLY 101\n2 A>B SEND_ONLY 102 bth.tver=2");
  ASSERT_THAT(found.streams, SizeIs(1));
  EXPECT_EQ(found.streams[0].count(Rule::transport_version), 2U);
  EXPECT_EQ(found.streams[0].count(Rule::padding), 0U);
  EXPECT_EQ(found.streams[0].count(VerdictKind::rule_broken), 2U);
}

}  // namespace
}  // namespace roce::analysis
