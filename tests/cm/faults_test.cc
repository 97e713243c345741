// SPDX-License-Identifier: BSD-2-Clause
// Faults of a network, for each message of a connection: both sides come to the same end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "two_managers.h"

namespace roce::cm::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Le;
using enum MadAttribute;

Time after(Time from, std::int64_t seconds) {
  return from + std::chrono::seconds{seconds};
}

/// Makes one message, chosen by attribute and count, meet `fate`.
TwoManagers::Plan once(MadAttribute which, Fate fate, unsigned number = 1) {
  return [=](MadAttribute attribute, unsigned count) {
    return attribute == which && count == number ? fate : Fate::arrives;
  };
}

TwoManagers::Plan always(MadAttribute which, Fate fate) {
  return [=](MadAttribute attribute, unsigned) { return attribute == which ? fate : Fate::arrives; };
}

TEST(CmHandshake, TakesThreeMessagesAndTwoToEnd) {
  TwoManagers pair;
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 1));
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b REP", "a RTU"));
  EXPECT_THAT(pair.events_a, ElementsAre("reply"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established"));
  EXPECT_EQ(pair.a.next_timeout(), kNever) << "an established connection waits for nothing";
  ASSERT_TRUE(pair.a.disconnect(connection, pair.now));
  pair.run();
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b REP", "a RTU", "a DREQ", "b DREP"));
  EXPECT_THAT(pair.events_a, ElementsAre("reply", "disconnected", "closed"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established", "disconnected", "closed"));
  EXPECT_EQ(pair.a.connections() + pair.b.connections(), 0U);
}

TEST(CmHandshake, EndsFromThePassiveSideToo) {
  TwoManagers pair;
  pair.connect();
  pair.run(after(pair.now, 1));
  ASSERT_TRUE(pair.b.disconnect(pair.of_b, pair.now));
  pair.run();
  EXPECT_THAT(pair.events_a, ElementsAre("reply", "disconnected", "closed"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established", "disconnected", "closed"));
}

TEST(CmHandshake, BothMayEndAtOnce) {
  TwoManagers pair;
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 1));
  ASSERT_TRUE(pair.a.disconnect(connection, pair.now));
  ASSERT_TRUE(pair.b.disconnect(pair.of_b, pair.now));
  pair.run();
  EXPECT_THAT(pair.events_a, ElementsAre("reply", "disconnected", "closed"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established", "disconnected", "closed"));
}

class CmFault : public ::testing::TestWithParam<std::tuple<MadAttribute, Fate>> {};

INSTANTIATE_TEST_SUITE_P(EachMessage, CmFault,
                         ::testing::Combine(::testing::Values(cm_req, cm_rep, cm_rtu, cm_dreq, cm_drep),
                                            ::testing::Values(Fate::lost, Fate::doubled, Fate::late)));

TEST_P(CmFault, OfOneMessageChangesNothingForTheCallers) {
  const auto [which, fate] = GetParam();
  TwoManagers pair{once(which, fate)};
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 30));
  EXPECT_THAT(pair.events_a, ElementsAre("reply"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established"));
  ASSERT_TRUE(pair.a.disconnect(connection, pair.now));
  pair.run();
  EXPECT_THAT(pair.events_a, ElementsAre("reply", "disconnected", "closed"));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established", "disconnected", "closed"));
  EXPECT_EQ(pair.a.connections() + pair.b.connections(), 0U);
}

TEST_P(CmFault, OfAllMessagesOfAKindComesToAnEnd) {
  const auto [which, fate] = GetParam();
  TwoManagers pair{always(which, fate)};
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 200));
  if (pair.a.find(connection) != nullptr) (void)pair.a.disconnect(connection, pair.now);
  pair.run();
  EXPECT_EQ(pair.a.connections(), 0U);
  // A peer that does not hear of the end keeps its connection.
  EXPECT_EQ(pair.b.connections(), which == cm_dreq && fate == Fate::lost ? 1U : 0U);
  for (const auto* events : {&pair.events_a, &pair.events_b}) {
    for (const char* once : {"reply", "established", "disconnected", "unreachable"}) {
      EXPECT_THAT(std::count(events->begin(), events->end(), once), Le(1)) << once;
    }
  }
}

TEST(CmFaults, ARequestThatIsNeverHeardIsRepeatedAsOftenAsItSaysAndGivenUp) {
  TwoManagers pair{always(cm_req, Fate::lost)};
  pair.connect();
  pair.run();
  EXPECT_EQ(std::count(pair.sent.begin(), pair.sent.end(), "a REQ"), 16);
  EXPECT_EQ(pair.sent.back(), "a REJ");
  EXPECT_THAT(pair.events_a, ElementsAre("unreachable"));
  // Sixteen times 4.608 s, by CM-TIME-3 (a REQ waits two packet lifetimes and the peer's response timeout).
  EXPECT_EQ(pair.now, Time{std::chrono::milliseconds{16 * 4608}} + std::chrono::milliseconds{1});
  EXPECT_EQ(pair.a.counters().sent_again, 15U);
}

TEST(CmFaults, AReplyThatIsNeverHeardEndsBoth) {
  TwoManagers pair{always(cm_rep, Fate::lost)};
  pair.connect();
  pair.run();
  // The REJ for the passive side's timeout names that side by its GUID, which the active side has never heard of. So
  // the active side asks once more, and rejects when it gives up itself.
  EXPECT_THAT(pair.events_b, ElementsAre("request", "unreachable", "request", "rejected 4"));
  EXPECT_THAT(pair.events_a, ElementsAre("unreachable"));
}

TEST(CmFaults, AnRtuThatIsLostComesAgainForARepThatComesAgain) {
  TwoManagers pair{once(cm_rtu, Fate::lost)};
  pair.connect();
  pair.run(after(pair.now, 10));
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b REP", "a RTU", "b REP", "a RTU"));
  EXPECT_EQ(pair.a.counters().of(Ignored::duplicate), 1U);
}

TEST(CmFaults, DataIsAsGoodAsAnRtu) {
  TwoManagers pair{always(cm_rtu, Fate::lost)};
  pair.connect();
  pair.run(after(pair.now, 1));
  EXPECT_THAT(pair.events_b, ElementsAre("request"));
  pair.b.data_arrived(pair.of_b, pair.now);
  pair.run();
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established"));
  EXPECT_EQ(pair.b.next_timeout(), kNever) << "the REP is not sent again";
}

TEST(CmFaults, AnEndThatIsNeverConfirmedIsAnEnd) {
  TwoManagers pair{always(cm_drep, Fate::lost)};
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 1));
  ASSERT_TRUE(pair.a.disconnect(connection, pair.now));
  pair.run();
  EXPECT_EQ(std::count(pair.sent.begin(), pair.sent.end(), "a DREQ"), 16);
  EXPECT_EQ(std::count(pair.sent.begin(), pair.sent.end(), "b DREP"), 16)
      << "also when the passive side knows nothing of it any more";
  EXPECT_THAT(pair.events_a, ElementsAre("reply", "disconnected", "closed"));
}

TEST(CmFaults, AskingForTimeKeepsTheRequestQuiet) {
  TwoManagers pair;
  pair.accepts = false;
  pair.connect();
  pair.run(after(pair.now, 1));
  // 65.536 s of service time and 0.512 s of the QP's timeout.
  ASSERT_TRUE(pair.b.delay(pair.of_b, 24, pair.now));
  pair.run(after(pair.now, 60));
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b MRA"));
  pair.run(after(pair.now, 10));
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b MRA", "a REQ", "b MRA")) << "then it asks again, and so do we";
  ASSERT_TRUE(pair.b.accept(pair.of_b, pair.reply, pair.now));
  pair.run(after(pair.now, 1));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established"));
}

TEST(CmFaults, AskingForTimeKeepsTheReplyQuiet) {
  TwoManagers pair;
  pair.confirms = false;
  const CommId connection = pair.connect();
  pair.run(after(pair.now, 1));
  ASSERT_TRUE(pair.a.delay(connection, 24, pair.now));
  pair.run(after(pair.now, 60));
  EXPECT_THAT(pair.sent, ElementsAre("a REQ", "b REP", "a MRA"));
  ASSERT_TRUE(pair.a.confirm(connection, {}, pair.now));
  pair.run(after(pair.now, 1));
  EXPECT_THAT(pair.events_b, ElementsAre("request", "established"));
}

}  // namespace
}  // namespace roce::cm::test
