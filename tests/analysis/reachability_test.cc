// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/reachability.h"

#include <gtest/gtest.h>

#include <chrono>

namespace roce::analysis {
namespace {

using namespace std::chrono_literals;

Gid host_gid(unsigned number) {
  return Gid::from_ipv4({{192, 0, static_cast<std::uint8_t>(number >> 8U), static_cast<std::uint8_t>(number)}});
}

ReachNotice question(Duration at, unsigned asker, unsigned about, std::uint16_t point = 0) {
  return {Time{at},
          {1, 0},
          point,
          NeighbourMessage{NeighbourPurpose::question, host_gid(asker), host_gid(about), {}, false}};
}

ReachNotice said(NeighbourPurpose purpose, Duration at, unsigned host, std::uint8_t mac) {
  return {
      Time{at}, {1, 0}, 0, NeighbourMessage{purpose, host_gid(host), host_gid(host), {{2, 0, 0, 0, 0, mac}}, false}};
}

TEST(ReachSurveyTest, CountsQuestionsSinceTheLastAnswer) {
  ReachSurvey survey;
  for (const Duration at : {0s, 1s, 2s}) survey.observe(question(at, 1, 2));
  EXPECT_EQ(survey.neighbours().at(0).in_a_row, 3U);
  survey.observe(said(NeighbourPurpose::answer, 3s, 2, 7));
  EXPECT_EQ(survey.neighbours().at(0).questions, 0U);
  EXPECT_EQ(survey.neighbours().at(0).in_a_row, 0U);
  survey.observe(question(10s, 1, 2));
  EXPECT_EQ(survey.neighbours().at(0).since, Time{10s});
}

TEST(ReachSurveyTest, ARowIsOfOneHostAndHasNoPause) {
  ReachSurvey survey;
  survey.observe(question(0s, 1, 2));
  survey.observe(question(1s, 3, 2));
  survey.observe(question(2s, 1, 2));
  survey.observe(question(6s, 1, 2));
  survey.observe(question(7s, 1, 2, 1));
  ASSERT_EQ(survey.neighbours().size(), 2U) << "one at each point";
  EXPECT_EQ(survey.neighbours()[0].questions, 4U);
  EXPECT_EQ(survey.neighbours()[0].in_a_row, 1U);
}

TEST(ReachSurveyTest, KnowsWhereAHostWasBefore) {
  ReachSurvey survey;
  survey.observe(said(NeighbourPurpose::answer, 1s, 2, 7));
  EXPECT_EQ(survey.neighbours().at(0).before, std::nullopt);
  survey.observe(said(NeighbourPurpose::announcement, 5s, 2, 8));
  const NeighbourSummary moved = survey.neighbours().at(0);
  EXPECT_EQ(moved.before, (MacAddress{{2, 0, 0, 0, 0, 7}}));
  EXPECT_EQ(moved.mac, (MacAddress{{2, 0, 0, 0, 0, 8}}));
  EXPECT_EQ(moved.moved, Time{5s});
  EXPECT_EQ(moved.announcements, 1U);
}

TEST(ReachSurveyTest, ItsMemoryIsBounded) {
  constexpr std::size_t kMost = 8;
  ReachSurvey survey{kMost};
  for (unsigned i = 0; i < 100; ++i) {
    survey.observe(question(0s, 1, i));
    IcmpError error;
    error.source = host_gid(i);
    error.why = Undelivered::prohibited;
    survey.observe({Time{}, {1, 0}, 0, error});
  }
  EXPECT_EQ(survey.neighbours().size(), kMost);
  EXPECT_EQ(survey.errors().size(), kMost);
  EXPECT_EQ(survey.uncounted_messages(), 2 * (100 - kMost));
}

}  // namespace
}  // namespace roce::analysis
