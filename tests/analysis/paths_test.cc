// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/paths.h"

#include <gmock/gmock.h>

#include <vector>

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint8_t kDscp26 = 26 << 2;

Observation packet(Opcode opcode, unsigned port, std::uint32_t qpn) {
  Observation seen;
  seen.kind = PacketKind::roce;
  seen.version = RoceVersion::v2_ipv4;
  seen.source = Gid::from_ipv4({{192, 0, 2, 1}});
  seen.destination = Gid::from_ipv4({{192, 0, 2, 2}});
  seen.opcode = opcode;
  seen.udp_source_port = static_cast<std::uint16_t>(port);
  seen.dest_qp = Qpn{qpn};
  seen.wire_length = 1000;
  return seen;
}

std::vector<PathSummary> survey(const std::vector<Observation>& packets) {
  PathSurvey survey;
  for (const Observation& seen : packets) survey.observe(seen);
  return survey.summaries();
}

TEST(Paths, CountThePortsAndQueuePairsOfDataAlone) {
  const auto paths = survey({packet(Opcode::rc_send_only, 50000, 0x11), packet(Opcode::rc_send_only, 50001, 0x12),
                             packet(Opcode::rc_send_only, 50001, 0x13), packet(Opcode::rc_acknowledge, 50002, 0x14)});
  ASSERT_THAT(paths, SizeIs(1));
  EXPECT_EQ(paths[0].packets, 4U);
  EXPECT_EQ(paths[0].bytes, 4000U);
  EXPECT_EQ(paths[0].queue_pairs, 3U);
  EXPECT_THAT(paths[0].ports, ElementsAre(PathPort{50001, 2, 2000}, PathPort{50000, 1, 1000}));
}

TEST(Paths, TellDirectionsPointsAndVersionsApart) {
  Observation back = packet(Opcode::rc_send_only, 50000, 0x11);
  std::swap(back.source, back.destination);
  Observation elsewhere = packet(Opcode::rc_send_only, 50000, 0x11);
  elsewhere.point = 1;
  Observation old = packet(Opcode::rc_send_only, 0, 0x11);
  old.version = RoceVersion::v1;
  const auto paths = survey({packet(Opcode::rc_send_only, 50000, 0x11), back, elsewhere, old});
  EXPECT_THAT(paths, SizeIs(4));
  for (const PathSummary& path : paths) EXPECT_EQ(path.ports.empty(), path.version == RoceVersion::v1);
}

TEST(Paths, CountMarksByTheKindOfPacket) {
  Observation data = packet(Opcode::rc_write_only, 50000, 0x11);
  data.traffic_class = kDscp26 | 2;
  data.link_priority = 3;
  Observation cnp = packet(Opcode::cnp, 50000, 0x11);
  cnp.traffic_class = 48 << 2;
  const auto paths =
      survey({data, data, cnp, packet(Opcode::rc_acknowledge, 50000, 0x11), packet(Opcode::ud_send_only, 50000, 1)});
  ASSERT_THAT(paths, SizeIs(1));
  const PathMarks& marks = paths[0].of(PathTraffic::data);
  EXPECT_EQ(marks.dscp[26], 2U);
  EXPECT_EQ(marks.packets(), 2U);
  EXPECT_EQ(marks.priorities[3], 2U);
  EXPECT_EQ(marks.ecn_capable, 2U);
  EXPECT_EQ(paths[0].of(PathTraffic::cnp).usual_dscp(), 48);
  EXPECT_EQ(paths[0].of(PathTraffic::answers).packets(), 1U);
  EXPECT_EQ(paths[0].of(PathTraffic::management).packets(), 1U);
}

TEST(Paths, LeaveOutDamagedPacketsAndWhatIsNoRoce) {
  Observation damaged = packet(Opcode::rc_send_only, 50000, 0x11);
  damaged.icrc_bad = true;
  Observation pause = packet(Opcode::rc_send_only, 50000, 0x11);
  pause.kind = PacketKind::pfc;
  EXPECT_THAT(survey({damaged, pause}), IsEmpty());
}

TEST(Paths, CountWhatThereIsNoRoomFor) {
  PathSurvey survey{2};
  for (unsigned port = 1; port <= 4; ++port) survey.observe(packet(Opcode::rc_send_only, port, 0x11));
  survey.observe(packet(Opcode::rc_send_only, 1, 0x11));
  EXPECT_EQ(survey.uncounted_packets(), 2U);
  ASSERT_THAT(survey.summaries(), SizeIs(1));
  EXPECT_EQ(survey.summaries()[0].packets, 3U);
}

TEST(FullestShare, OfOneFlowIsEverything) {
  EXPECT_DOUBLE_EQ(expected_fullest_share(std::vector<std::uint64_t>{7}, 8), 1);
  EXPECT_DOUBLE_EQ(expected_fullest_share({}, 8), 0);
}

// Two flows on two links: both on one with probability 1/2, so 3/4 is expected.
TEST(FullestShare, IsWhatChanceGives) {
  EXPECT_NEAR(expected_fullest_share(std::vector<std::uint64_t>{1, 1}, 2), 0.75, 0.02);
  // Three flows on two links: all on one with probability 1/4, otherwise two of three.
  EXPECT_NEAR(expected_fullest_share(std::vector<std::uint64_t>{1, 1, 1}, 2), 0.25 + 0.75 * 2 / 3, 0.02);
}

TEST(FullestShare, ComesNearToEvenWithManyFlowsAndNotWithAnElephant) {
  std::vector<std::uint64_t> flows(1000, 1);
  EXPECT_NEAR(expected_fullest_share(flows, 4), 0.25, 0.03);
  flows.push_back(1000);
  EXPECT_GT(expected_fullest_share(flows, 4), 0.6);
}

}  // namespace
}  // namespace roce::analysis
