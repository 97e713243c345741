// SPDX-License-Identifier: BSD-2-Clause
// Rules for which packets belong together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include <string>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint32_t> streams_of(const Findings& found) {
  std::vector<std::uint32_t> streams;
  for (const PacketAnalysis& packet : found.packets) streams.push_back(packet.stream);
  return streams;
}

TEST(Streams, DirectionsAreJoinedByTheirPsns) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  qp=0x22
     1  A>B  SEND_ONLY  900  qp=0x23
    10  B>A  ACK        900  qp=0x13
    11  B>A  ACK        100  qp=0x12)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 1, 1, 0));
  ASSERT_EQ(found.streams.size(), 2U);
  EXPECT_TRUE(found.streams[0].joined);
  EXPECT_EQ(found.streams[0].qpns[0], Qpn{0x12});
  EXPECT_EQ(found.streams[0].qpns[1], Qpn{0x22});
  EXPECT_EQ(found.streams[1].qpns[0], Qpn{0x13});
  EXPECT_EQ(found.packets[2].direction, 1);
}

TEST(Streams, LossesFromBeforeTheDirectionsAreJoinedAreKept) {
  // Both ends send requests; those of B are a separate stream until A acknowledges one.
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY    500
    10  B>A  SEND_ONLY    100
    20  B>A  SEND_ONLY    102
   900  B>A  SEND_MIDDLE  101
  1010  A>B  ACK          102)");
  ASSERT_EQ(found.streams.size(), 1U);
  EXPECT_TRUE(found.streams[0].joined);
  EXPECT_EQ(found.packets[4].absorbed, 1U);
  EXPECT_EQ(found.streams[0].lost_psns, 1U);
}

// A-UD-1 (a QP numbers its datagrams one after the other, whoever they are for)
TEST(Streams, OfDatagramsThePsnsThatNoneHasAreCounted) {
  const Findings found = analyse(R"(
     0  A>B  UD_SEND_ONLY  100  sqp=7
     1  A>B  UD_SEND_ONLY  101  sqp=7
     2  A>B  UD_SEND_ONLY  104  sqp=7
     3  A>B  UD_SEND_ONLY  103  sqp=7
     4  A>B  UD_SEND_ONLY  200  sqp=8
     5  A>B  UD_SEND_ONLY  8388700  sqp=8)");
  ASSERT_EQ(found.streams.size(), 2U);
  EXPECT_EQ(found.streams[0].unseen_datagrams, 1U);
  EXPECT_EQ(found.streams[1].unseen_datagrams, 0U) << "so far ahead is another QP with this number";
}

// Both sides of a switch in one input: the copies at the second point repeat nothing, and the loss between the points
// is told by each of them in its own way.
TEST(Streams, EachCapturePointIsJudgedByItself) {
  const Findings found = analyse(R"(
     0  A>B  SEND_FIRST   100  id=1
     2  A>B  SEND_FIRST   100  id=1  point=1
    10  A>B  SEND_MIDDLE  101  id=2
    20  A>B  SEND_LAST    102  id=3  ar
    22  A>B  SEND_LAST    102  id=3  ar  point=1
    30  B>A  NAK_SEQUENCE 101  point=1
    32  B>A  NAK_SEQUENCE 101
    60  A>B  SEND_MIDDLE  101  id=4
    62  A>B  SEND_MIDDLE  101  id=4  point=1
    70  A>B  SEND_LAST    102  id=5  ar
    72  A>B  SEND_LAST    102  id=5  ar  point=1
    80  B>A  ACK          102  point=1
    82  B>A  ACK          102)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
  ASSERT_EQ(found.streams.size(), 2U);
  EXPECT_EQ(found.streams[0].point, 0);
  EXPECT_EQ(found.streams[1].point, 1);
  EXPECT_EQ(found.streams[0].count(VerdictKind::request_lost_after), 1U);
  EXPECT_EQ(found.streams[0].count(VerdictKind::request_lost_before), 0U);
  EXPECT_EQ(found.streams[1].count(VerdictKind::request_lost_before), 1U);
  EXPECT_EQ(found.streams[1].count(VerdictKind::request_lost_after), 0U);
  for (const StreamSummary& stream : found.streams) {
    EXPECT_EQ(stream.count(VerdictKind::retransmission), 2U);
    EXPECT_EQ(stream.count(VerdictKind::duplicate), 0U);
  }
}

// A REQ and its REP, at point 0 only.
constexpr std::string_view kConnect =
    "-9 A>B UD_SEND_ONLY 1 qp=1 headers=cm_req mad.mgmt_class=7 mad.attribute_id=0x10 cm_req.local_comm_id=71 "
    "cm_req.local_qpn=0x11\n"
    "-8 B>A UD_SEND_ONLY 1 qp=1 headers=cm_rep mad.mgmt_class=7 mad.attribute_id=0x13 cm_rep.local_comm_id=72 "
    "cm_rep.remote_comm_id=71 cm_rep.local_qpn=0x22\n";

TEST(Streams, ConnectionManagementJoinsTheFlowsOfItsOwnPoint) {
  const Findings found = analyse(std::string{kConnect} + R"(
    20  A>B  SEND_ONLY  100  qp=0x22
    21  B>A  SEND_ONLY  500  qp=0x11
    30  A>B  SEND_ONLY  100  qp=0x22  point=1
    31  B>A  SEND_ONLY  500  qp=0x11  point=1)");
  std::size_t joined = 0;
  for (const StreamSummary& stream : found.streams) {
    if (stream.service != Service::rc) continue;
    EXPECT_EQ(stream.joined, stream.point == 0);
    joined += stream.joined ? 1U : 0U;
  }
  EXPECT_EQ(joined, 1U);
}

TEST(Streams, EqualPsnsAreJoinedByTheUdpSourcePort) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  qp=0x22  port=50001
     1  A>B  SEND_ONLY  100  qp=0x23  port=50002
    10  B>A  ACK        100  qp=0x13  port=50002
    11  B>A  ACK        100  qp=0x12  port=50001)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 1, 1, 0));
}

TEST(Streams, WhatCouldAnswerTwoConnectionsIsJoinedToNeither) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  qp=0x22  port=50001
     1  A>B  SEND_ONLY  100  qp=0x23  port=50002
    10  B>A  ACK        100  qp=0x13  port=50003)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 1, 2));
  for (const StreamSummary& stream : found.streams) EXPECT_FALSE(stream.joined);
}

// Returns a line with a REQ or REP.
std::string cm(const std::string& time, const std::string& hosts, const std::string& message,
               const std::string& fields) {
  const std::string name = "cm_" + message;
  std::string line =
      time + ' ' + hosts + " UD_SEND_ONLY 1 qp=1 headers=" + name + " mad.mgmt_class=7 mad.attribute_id=";
  line += message == "req" ? "0x10" : "0x13";
  std::istringstream words{fields};
  for (std::string word; words >> word;) line += ' ' + name + '.' + word;
  return line + '\n';
}

TEST(Streams, EqualPsnsAreJoinedByConnectionManagement) {
  const Findings found = analyse(cm("0", "A>B", "req", "local_comm_id=71 local_qpn=0x12 path_mtu=3") +
                                 cm("1", "B>A", "rep", "local_comm_id=81 remote_comm_id=71 local_qpn=0x22") +
                                 cm("2", "A>B", "req", "local_comm_id=72 local_qpn=0x13 path_mtu=3") +
                                 cm("3", "B>A", "rep", "local_comm_id=82 remote_comm_id=72 local_qpn=0x23") + R"(
    10  A>B  SEND_ONLY     100  qp=0x22
    11  A>B  SEND_ONLY     100  qp=0x23
    20  B>A  ACK           100  qp=0x13
    21  B>A  ACK           100  qp=0x12)");
  EXPECT_EQ(found.packets[0].role, PacketRole::management);
  EXPECT_EQ(found.packets[4].role, PacketRole::request);
  EXPECT_EQ(found.packets[6].stream, found.packets[5].stream);
  EXPECT_EQ(found.packets[7].stream, found.packets[4].stream);
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(Streams, VlansVersionsAndHostsAreKeptApart) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     1  A>B  SEND_ONLY  100  vlan=5
     2  A>B  SEND_ONLY  100  vlan=6
     3  A>B  SEND_ONLY  100  v6
     4  A>B  SEND_ONLY  100  v1
     5  A>C  SEND_ONLY  100  qp=0x22
    10  B>A  ACK        100  vlan=6
    11  B>A  ACK        100  v1
    12  B>A  ACK        100)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 1, 2, 3, 4, 5, 2, 4, 0));
  EXPECT_EQ(found.streams[4].version, RoceVersion::v1);
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(Streams, APriorityIsNotAVlan) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100  vlan=5
     1  A>B  SEND_ONLY  101  vlan=24581)");  // VLAN 5 with priority 3
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0));
}

TEST(Streams, AQpThatIsUsedAgainIsAnotherStream) {
  const Findings found = analyse(R"(
          0  A>B  SEND_ONLY  5000000  ar
         10  B>A  ACK        5000000
         20  A>B  SEND_ONLY  5000001  ar
         30  B>A  ACK        5000001
    9000000  A>B  SEND_ONLY  100      ar
    9000010  B>A  ACK        100
    9000020  A>B  SEND_ONLY  101      ar)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(found.now, ElementsAre("5 new_connection 100"));
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(found.packets[4].relative_psn, 0);
  ASSERT_EQ(found.streams.size(), 2U);
  EXPECT_TRUE(found.streams[1].joined);
}

TEST(Streams, AJumpForwardIsAnotherConnectionToo) {
  const Findings found = analyse(R"(
          0  A>B  SEND_ONLY  100      ar
         10  B>A  ACK        100
    9000000  A>B  SEND_ONLY  5000000  ar
    9000010  B>A  ACK        5000000)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(found.now, ElementsAre("3 new_connection 5000000"));
}

TEST(Streams, PsnsAreRelativeToTheFirstAndTimesToTheLast) {
  const Findings found = analyse(R"(
     0  A>B  SEND_ONLY  100
     4  A>B  SEND_ONLY  101
    10  B>A  ACK        101)");
  EXPECT_EQ(found.packets[1].relative_psn, 1);
  EXPECT_EQ(found.packets[2].relative_psn, 1);
  EXPECT_EQ(found.packets[0].since_last, Duration{});
  EXPECT_EQ(found.packets[1].since_last, std::chrono::microseconds{4});
  EXPECT_EQ(found.packets[2].since_last, std::chrono::microseconds{6});
}

// 600 bytes are three packets of 256, two of 512, and one of 1024 and more.
TEST(PathMtu, TheRequestBehindAReadShowsItsLength) {
  const Findings found = analyse(R"(
     0  A>B  READ       100  dma=600
     1  A>B  SEND_ONLY  103  ar)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  ASSERT_EQ(found.messages.size(), 2U);
  EXPECT_EQ(found.messages[0].psn_count, 3U);
}

TEST(PathMtu, AnAnswerBehindARequestBehindARead) {
  const Findings found = analyse(R"(
     0  A>B  READ       100  dma=600
     1  A>B  SEND_ONLY  103  ar
    10  B>A  FIRST      100
    11  B>A  MIDDLE     101
    12  B>A  LAST       102  len=88
    13  B>A  ACK        103)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(found.streams[0].path_mtu, 256);
}

TEST(PathMtu, ShownByTheFirstResponse) {
  const Findings found = analyse(R"(
     0  A>B  READ       100  dma=600
    10  B>A  FIRST      100  len=512
    11  B>A  LAST       101  len=88
    20  A>B  SEND_ONLY  102  ar
    30  B>A  ACK        102)");
  EXPECT_THAT(found.now, IsEmpty());
  EXPECT_THAT(found.later, IsEmpty());
  EXPECT_EQ(found.streams[0].path_mtu, 512);
}

TEST(PathMtu, AGapBehindAReadOfUnknownLengthIsNotSaid) {
  const Findings found = analyse(R"(
     0  A>B  READ       100  dma=600
     1  A>B  SEND_ONLY  102  ar)");
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(PathMtu, AGapBehindAReadOfKnownLengthIsSaid) {
  const Findings found = analyse(R"(
     0  A>B  SEND_FIRST 97
     1  A>B  SEND_LAST  98
     2  A>B  READ       99   dma=600
     3  A>B  SEND_ONLY  103  ar)");
  EXPECT_THAT(found.now, ElementsAre("4 gap 102"));
}

TEST(Streams, AnswerToARequestThatWasNotSeenIsJoinedByItsPort) {
  const auto joined = [](const char* answer) {
    const Findings found = analyse(std::string{R"(
     0  A>B  SEND_ONLY  100  qp=0x22  port=50001
     1  A>B  SEND_ONLY  101  qp=0x22  port=50001
    )"} + answer);
    return found.streams.at(0).joined;
  };
  EXPECT_TRUE(joined("10  B>A  ACK  102  qp=0x12  port=50001"));
  EXPECT_TRUE(joined("10  B>A  ACK  105  qp=0x12  port=50001"));
  EXPECT_FALSE(joined("10  B>A  ACK  106  qp=0x12  port=50001"));
  EXPECT_FALSE(joined("10  B>A  ACK  102  qp=0x12  port=50002"));
  EXPECT_TRUE(joined("10  B>A  ACK  101  qp=0x12  port=50002"));
}

}  // namespace
}  // namespace roce::analysis
