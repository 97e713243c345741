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

NeighbourSummary about(const ReachSurvey& survey, unsigned host, std::uint16_t point = 0) {
  for (const NeighbourSummary& each : survey.neighbours()) {
    if (each.point == point && each.address == host_gid(host)) return each;
  }
  return {};
}

TEST(ReachSurveyTest, CountsQuestionsSinceTheLastAnswer) {
  ReachSurvey survey;
  for (const Duration at : {0s, 1s, 2s}) survey.observe(question(at, 1, 2));
  EXPECT_EQ(about(survey, 2).longest_row, (NeighbourQuestions{3, host_gid(1), Time{0s}, Time{2s}}));
  survey.observe(said(NeighbourPurpose::answer, 3s, 2, 7));
  EXPECT_EQ(about(survey, 2).longest_row, NeighbourQuestions{});
  EXPECT_EQ(about(survey, 2).heard, Time{3s});
  survey.observe(question(10s, 1, 2));
  EXPECT_EQ(about(survey, 2).longest_row.begin, Time{10s});
}

TEST(ReachSurveyTest, ARowIsOfOneHostAndHasNoPause) {
  ReachSurvey survey;
  survey.observe(question(0s, 1, 2));
  survey.observe(question(1s, 3, 2));
  survey.observe(question(2s, 1, 2));
  survey.observe(question(6s, 1, 2));
  survey.observe(question(7s, 1, 2, 1));
  EXPECT_EQ(about(survey, 2).longest_row, (NeighbourQuestions{1, host_gid(1), Time{6s}, Time{6s}}));
  EXPECT_EQ(about(survey, 2, 1).longest_row.count, 1U) << "another point";
}

TEST(ReachSurveyTest, AHostThatAsksIsThere) {
  ReachSurvey survey;
  for (const Duration at : {0s, 1s, 2s}) survey.observe(question(at, 1, 2));
  survey.observe(question(3s, 2, 9));
  EXPECT_EQ(about(survey, 2).longest_row.count, 0U);
  EXPECT_EQ(about(survey, 2).heard, Time{3s});
  EXPECT_EQ(about(survey, 1).heard, Time{2s});
  EXPECT_EQ(about(survey, 9).heard, std::nullopt);
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
