// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/incast_statements.h"

#include <gmock/gmock.h>

namespace roce::analyze {
namespace {

using analysis::FanInSummary;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Gid kFast = Gid::from_ipv4({{192, 0, 2, 1}});
const Gid kSlow = Gid::from_ipv4({{192, 0, 2, 2}});
const Gid kTarget = Gid::from_ipv4({{192, 0, 2, 9}});

/// The fast one and the slow one send as much as each other, half of it at once.
FanInSummary target() {
  FanInSummary host;
  host.destination = kTarget;
  host.levels = {{.windows = 100, .bytes = 1'000'000}, {.windows = 50, .bytes = 1'000'000}};
  host.fullest.senders = 2;
  host.senders = {{kFast, {.windows = 100, .bytes = 1'000'000}}, {kSlow, {.windows = 100, .bytes = 1'000'000}}};
  return host;
}

std::vector<std::string> said_of(const FanInSummary& host, std::uint64_t link = 0) {
  const auto name = [](const Gid& gid) { return std::string{gid == kFast ? "A" : gid == kSlow ? "B" : "target"}; };
  std::vector<std::string> texts;
  for (const Statement& statement : statements_about_incast({&host, 1}, {analysis::FanInSurvey::kWindow, link}, name)) {
    texts.push_back((statement.severity == analysis::Severity::warning ? "! " : "") + statement.text);
  }
  return texts;
}

TEST(IncastStatements, SayNothingOfAHostToWhichOneSendsAtATime) {
  FanInSummary host = target();
  host.levels.pop_back();
  host.fullest.senders = 1;
  EXPECT_THAT(said_of(host), IsEmpty());
}

TEST(IncastStatements, CallNothingAnIncastThatDoesNoHarm) {
  EXPECT_THAT(said_of(target()),
              ElementsAre("target: up to 2 hosts send to it within 100 us, and none of its packets is "
                          "lost or marked CE, as far as is seen here"));
}

TEST(IncastStatements, NameTheHarmThatComesWithSeveralSenders) {
  FanInSummary host = target();
  host.levels[0].lost = 5;
  host.levels[1].lost = 95;
  host.senders[0].load.lost = host.senders[1].load.lost = 50;
  EXPECT_THAT(said_of(host), ElementsAre(AllOf(HasSubstr("! target: 95 of its packets were lost while"),
                                               HasSubstr("95.0 % of all that were, with 50.0 % of its bytes"),
                                               HasSubstr("an incast"))));
}

TEST(IncastStatements, BlameNoIncastForHarmThatComesAtAnyTime) {
  FanInSummary host = target();
  host.levels[0].lost = 45;
  host.levels[1].lost = 55;
  host.senders[0].load.lost = host.senders[1].load.lost = 50;
  EXPECT_THAT(said_of(host),
              ElementsAre("target: up to 2 hosts send to it within 100 us, but its packets are lost as often "
                          "while one does"));
}

TEST(IncastStatements, BlameNoIncastForAFewPackets) {
  FanInSummary host = target();
  host.levels[1].lost = 9;
  EXPECT_THAT(said_of(host), ElementsAre("target: up to 2 hosts send to it within 100 us"));
}

TEST(IncastStatements, LeaveItOpenWhereSeveralSendAllTheTime) {
  FanInSummary host = target();
  host.levels[0] = {.windows = 1, .bytes = 1000};
  host.levels[1].marked = 100;
  host.senders[0].load.marked = host.senders[1].load.marked = 50;
  EXPECT_THAT(said_of(host),
              ElementsAre(HasSubstr("target: 100 of its packets were marked CE, which may be an incast")));
}

TEST(IncastStatements, BlameNoIncastWhereTheLinkIsNeverFull) {
  FanInSummary host = target();
  host.levels[1].lost = 100;
  host.senders[0].load.lost = host.senders[1].load.lost = 50;
  host.busiest.bytes = 100'000;  // 8 Gbit/s
  EXPECT_THAT(said_of(host, 25'000'000'000), ElementsAre("target: up to 2 hosts send to it within 100 us"));
  EXPECT_THAT(said_of(host, 10'000'000'000), ElementsAre(HasSubstr("This is an incast")));
}

TEST(IncastStatements, NameTheSenderThatSuffersMost) {
  FanInSummary host = target();
  host.levels[1].lost = 100;
  host.senders[0].load = {.windows = 100, .bytes = 1'600'000, .lost = 10};
  host.senders[1].load = {.windows = 100, .bytes = 400'000, .lost = 90};
  EXPECT_THAT(said_of(host), ElementsAre(HasSubstr("an incast"), AllOf(HasSubstr("target: B suffers most: 90.0 %"),
                                                                       HasSubstr("with 20.0 % of the bytes"))));
}

}  // namespace
}  // namespace roce::analyze
