// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/fan_in.h"

#include <gmock/gmock.h>

#include <vector>

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::uint8_t kCe = 3;

Gid host(unsigned number) {
  return Gid::from_ipv4({{192, 0, 2, static_cast<std::uint8_t>(number)}});
}

/// 1000 bytes of data from `sender` to host 9.
Observation data(unsigned sender, std::int64_t at_us) {
  Observation seen;
  seen.kind = PacketKind::roce;
  seen.version = RoceVersion::v2_ipv4;
  seen.source = host(sender);
  seen.destination = host(9);
  seen.opcode = Opcode::rc_write_middle;
  seen.dest_qp = Qpn{0x11};
  seen.payload_length = 900;
  seen.wire_length = 1000;
  seen.time = Time{Duration{at_us * kMicrosecond}};
  seen.id = {.frame = static_cast<std::uint64_t>(at_us)};
  return seen;
}

std::vector<FanInSummary> survey(const std::vector<Observation>& packets) {
  FanInSurvey survey;
  for (const Observation& seen : packets) survey.observe(seen);
  return survey.summaries();
}

TEST(FanIn, CountsTheHostsThatSendInOneWindow) {
  const auto hosts = survey({data(1, 10), data(1, 20), data(2, 110), data(1, 120), data(3, 199), data(2, 200)});
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].destination, host(9));
  EXPECT_THAT(hosts[0].levels,
              ElementsAre(FanInLoad{.windows = 2, .bytes = 3000}, FanInLoad{}, FanInLoad{.windows = 1, .bytes = 3000}));
  EXPECT_EQ(hosts[0].fullest,
            (FanInWindow{.start = Time{Duration{100'000}}, .first = {.frame = 110}, .senders = 3, .bytes = 3000}));
  EXPECT_THAT(hosts[0].senders, ElementsAre(FanInSender{host(1), {.windows = 2, .bytes = 3000}},
                                            FanInSender{host(2), {.windows = 2, .bytes = 2000}},
                                            FanInSender{host(3), {.windows = 1, .bytes = 1000}}));
}

TEST(FanIn, PutsWhatIsMarkedAndLostBesideTheNumberOfSenders) {
  FanInSurvey survey;
  survey.observe(data(1, 10), 1);
  Observation marked = data(1, 110);
  marked.traffic_class = kCe;
  survey.observe(marked);
  survey.observe(data(2, 120), 3);
  const auto hosts = survey.summaries();
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].all(), (FanInLoad{.windows = 2, .bytes = 3000, .marked = 1, .lost = 4}));
  EXPECT_EQ(hosts[0].from(2), (FanInLoad{.windows = 1, .bytes = 2000, .marked = 1, .lost = 3}));
  EXPECT_EQ(hosts[0].from(3), FanInLoad{});
}

TEST(FanIn, PutsALossThatComesToLightLaterIntoItsWindow) {
  constexpr std::size_t kRemembered = 4096;
  FanInSurvey survey{FanInSurvey::kWindow, 10, kRemembered};
  survey.observe(data(1, 10));
  survey.observe(data(2, 20));
  survey.observe(data(1, 110));
  survey.lose({.frame = 20}, 3);
  survey.lose({.frame = 110}, 1);
  // Neither a packet that nobody has seen, nor one whose place another one has taken.
  survey.lose({.frame = 30}, 7);
  survey.observe(data(1, 10 + kRemembered));
  survey.lose({.frame = 10}, 5);
  const auto hosts = survey.summaries();
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].from(2), (FanInLoad{.windows = 1, .bytes = 2000, .lost = 3}));
  EXPECT_EQ(hosts[0].all().lost, 4U);
  EXPECT_THAT(hosts[0].senders, ElementsAre(FanInSender{host(1), {.windows = 3, .bytes = 3000, .lost = 1}},
                                            FanInSender{host(2), {.windows = 1, .bytes = 1000, .lost = 3}}));
  EXPECT_EQ(survey.unplaced_losses(), 12U);
}

TEST(FanIn, PlacesALossThatAnAnswerShows) {
  FanInSurvey survey{FanInSurvey::kWindow, 10, 4096};
  const auto answer = [](std::int64_t at_us) {
    Observation seen = data(1, at_us);
    seen.opcode = Opcode::rc_acknowledge;
    seen.payload_length = 0;
    return seen;
  };
  // No data has come to that host yet, and none comes to the second one, whose address ends like that of the first.
  survey.observe(answer(10));
  Observation elsewhere = answer(15);
  elsewhere.destination = Gid::from_ipv4({{192, 0, 3, 9}});
  survey.observe(data(2, 20));
  survey.observe(answer(30));
  survey.observe(elsewhere);
  survey.observe(data(2, 110));
  survey.lose({.frame = 10}, 1);
  survey.lose({.frame = 15}, 1);
  survey.lose({.frame = 30}, 2);
  ASSERT_THAT(survey.summaries(), SizeIs(1));
  EXPECT_EQ(survey.summaries()[0].levels[0].lost, 2U);
  EXPECT_EQ(survey.unplaced_losses(), 2U);
}

TEST(FanIn, PlacesNoLossInAWindowOfLongAgo) {
  FanInSurvey survey{FanInSurvey::kWindow, 10, std::size_t{1} << 20U};
  survey.observe(data(1, 10));
  for (int window = 1; window < 1024; ++window) survey.observe(data(1, 10 + window * 100));
  survey.lose({.frame = 10}, 1);
  survey.observe(data(1, 10 + 1024 * 100));
  survey.lose({.frame = 10}, 1);
  EXPECT_EQ(survey.summaries()[0].all().lost, 1U);
  EXPECT_EQ(survey.unplaced_losses(), 1U);
}

TEST(FanIn, FindsTheBusiestWindow) {
  const auto hosts = survey({data(1, 10), data(2, 20), data(1, 110), data(1, 120), data(1, 130), data(1, 210)});
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].busiest.first.frame, 110U);
  EXPECT_EQ(hosts[0].busiest.bytes, 3000U);
  EXPECT_EQ(hosts[0].fullest.first.frame, 10U);
}

TEST(FanIn, TellsDestinationsAndPointsApart) {
  Observation elsewhere = data(2, 10);
  elsewhere.point = 1;
  Observation back = data(9, 20);
  back.destination = host(1);
  EXPECT_THAT(survey({data(1, 5), elsewhere, back}), SizeIs(3));
}

TEST(FanIn, TellsApartWhatHasTheSameLastOctets) {
  Observation other_sender = data(1, 20);
  other_sender.source = Gid::from_ipv4({{192, 0, 3, 1}});
  Observation other_destination = data(1, 30);
  other_destination.destination = Gid::from_ipv4({{192, 0, 3, 9}});
  Observation other_point = data(1, 40);
  other_point.point = 1;
  const auto hosts = survey({data(1, 10), other_sender, other_destination, other_point, data(1, 50)});
  ASSERT_THAT(hosts, SizeIs(3));
  EXPECT_THAT(hosts[0].senders, SizeIs(2));
  EXPECT_EQ(hosts[0].all().bytes, 3000U);
}

TEST(FanIn, LeavesOutWhatIsNoData) {
  Observation answer = data(1, 10);
  answer.opcode = Opcode::rc_acknowledge;
  answer.payload_length = 0;
  Observation mad = data(1, 10);
  mad.dest_qp = Qpn{1};
  Observation cnp = data(1, 10);
  cnp.opcode = Opcode::cnp;
  Observation damaged = data(1, 10);
  damaged.icrc_bad = true;
  Observation pause = data(1, 10);
  pause.kind = PacketKind::pfc;
  EXPECT_THAT(survey({answer, mad, cnp, damaged, pause}), IsEmpty());
}

TEST(FanIn, BeginsAWindowWhereTheClockGoesBack) {
  const auto hosts = survey({data(1, 150), data(2, 50), data(1, 60)});
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_THAT(hosts[0].levels,
              ElementsAre(FanInLoad{.windows = 1, .bytes = 1000}, FanInLoad{.windows = 1, .bytes = 2000}));
}

TEST(FanIn, WindowsBeforeTheEpochAreAsLongAsOthers) {
  const auto hosts = survey({data(1, -10), data(2, 10)});
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].fullest.senders, 1U);
}

TEST(FanIn, IsBounded) {
  FanInSurvey survey{FanInSurvey::kWindow, 2};
  for (unsigned sender = 1; sender <= 5; ++sender) survey.observe(data(sender, 10));
  survey.observe(data(1, 20));
  EXPECT_EQ(survey.uncounted_packets(), 3U);
  ASSERT_THAT(survey.summaries(), SizeIs(1));
  EXPECT_EQ(survey.summaries()[0].all().bytes, 3000U);
}

}  // namespace
}  // namespace roce::analysis
