// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/wait_statements.h"

#include <gmock/gmock.h>

namespace roce::analyze {
namespace {

using analysis::WaitFor;
using analysis::WaitSummary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Three quarters of a second for `wait`, a quarter for sending, with 125 MB of payload.
WaitSummary requester(WaitFor wait, bool is_near = true) {
  WaitSummary made;
  made.requests = 1000;
  made.payload = 125'000'000;
  made.times[static_cast<std::size_t>(WaitFor::nothing)] = Duration{250'000'000};
  made.times[static_cast<std::size_t>(wait)] += Duration{750'000'000};
  made.most_under_way = 16;
  made.least_round_trip = Duration{10'000};
  made.mean_round_trip = Duration{12'000};
  made.is_near = is_near;
  return made;
}

std::vector<std::string> said_of_all(const std::vector<WaitSummary>& requesters) {
  std::vector<std::string> texts;
  for (const Statement& statement : statements_about_waits(requesters, [](const WaitSummary&) { return "A"; })) {
    texts.push_back((statement.severity == analysis::Severity::warning ? "! " : "") + statement.text);
  }
  return texts;
}

TEST(WaitStatements, NameTheLongestWait) {
  EXPECT_THAT(said_of_all({requester(WaitFor::application)}),
              ElementsAre(HasSubstr("A: for 75.0 % of its time it waits for its application")));
  EXPECT_THAT(said_of_all({requester(WaitFor::losses)}),
              ElementsAre(HasSubstr("! A: for 75.0 % of its time it waits for what was lost")));
  EXPECT_THAT(said_of_all({requester(WaitFor::nothing)}), ElementsAre(HasSubstr("sends without a wait, 1.00 Gbit/s")));
}

TEST(WaitStatements, AdviseMoreAtOnceOnlyWhereNoQueueIsFull) {
  WaitSummary waiting = requester(WaitFor::answers);
  EXPECT_THAT(said_of_all({waiting}), ElementsAre(HasSubstr("with more under way at once it would be faster")));
  waiting.mean_round_trip = Duration{40'000};
  EXPECT_THAT(said_of_all({waiting}),
              ElementsAre(HasSubstr("they take 40.0 us in the mean, and 10.0 us at best: a queue")));
}

TEST(WaitStatements, AreOfThoseAtTheCapturedLink) {
  EXPECT_THAT(said_of_all({requester(WaitFor::host, false), requester(WaitFor::pauses)}),
              ElementsAre(HasSubstr("PFC or PAUSE")));
  EXPECT_THAT(said_of_all({requester(WaitFor::host, false)}),
              ElementsAre(HasSubstr("not the link of a single host"), HasSubstr("no reason on the wire")));
}

TEST(WaitStatements, AreOfFiveAndNotOfFewPackets) {
  EXPECT_THAT(said_of_all(std::vector<WaitSummary>(7, requester(WaitFor::rate))), SizeIs(5));
  WaitSummary small = requester(WaitFor::rate);
  small.requests = 19;
  EXPECT_THAT(said_of_all({small}), IsEmpty());
}

}  // namespace
}  // namespace roce::analyze
