// SPDX-License-Identifier: BSD-2-Clause
// Several rules at once, the log, and that the same seed gives the same result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

using test::at;
using test::drain_log;
using test::engine_of;
using test::frame_of;
using test::icrc_of;
using test::middle;
using test::numbers;
using test::pass;
using test::passed;
using test::value_in;
using testing::ElementsAre;

TEST(ImpairCombination, RulesCountForThemselves) {
  // The second WRITE is dropped, and the other rule counts it nevertheless.
  Engine engine = engine_of("drop:nth=2; drop:nth=4");
  EXPECT_THAT(passed(engine, {middle(0), middle(1), middle(2), middle(3), middle(4)}), ElementsAre(1, 3, 5));
}

TEST(ImpairCombination, RulesLookAtThePacketAsItWasSubmitted) {
  Engine engine = engine_of("edit:field=bth.psn,value=500; drop:abs_psn=500");
  EXPECT_THAT(passed(engine, {middle(7)}), ElementsAre(1));
  EXPECT_THAT(passed(engine, {middle(500)}), testing::IsEmpty());
}

TEST(ImpairCombination, DropWinsWhereverItStands) {
  for (const char* rules : {"drop; duplicate; delay:by=1s", "duplicate; delay:by=1s; drop"}) {
    Engine engine = engine_of(rules);
    EXPECT_THAT(pass(engine, middle(1)), testing::IsEmpty());
    EXPECT_EQ(engine.packets_inside(), 0U);
    EXPECT_EQ(engine.stats().dropped, 1U);
    EXPECT_EQ(engine.stats().duplicates, 0U);
    const auto records = drain_log(engine);
    ASSERT_EQ(records.size(), 1U) << "only what was done is logged";
    EXPECT_EQ(action_name(engine.rules().rules()[records[0].rule].action.index()), "drop");
  }
}

TEST(ImpairCombination, EditsAndMarksAllHappenInOrder) {
  Engine engine =
      engine_of("edit:field=bth.psn,value=1; edit:field=bth.psn,value=2; mark_ce; edit:field=ip.ttl,value=9");
  const auto frame = pass(engine, middle(7)).front().bytes;
  EXPECT_EQ(value_in(frame, "bth.psn"), "2");
  EXPECT_EQ(value_in(frame, "ip.ecn"), "3");
  EXPECT_EQ(value_in(frame, "ip.ttl"), "9");
  EXPECT_EQ(value_in(frame, "ip.checksum"), "auto");
  EXPECT_EQ(icrc_of(frame), IcrcStatus::good);
  EXPECT_EQ(drain_log(engine).size(), 4U);
}

TEST(ImpairCombination, AnEditBesideACorruptLeavesTheIcrcWrong) {
  for (const char* rules : {"corrupt; edit:field=bth.psn,value=1", "edit:field=bth.psn,value=1; corrupt"}) {
    Engine engine = engine_of(rules);
    EXPECT_EQ(icrc_of(pass(engine, middle(7)).front().bytes), IcrcStatus::bad) << rules;
  }
}

TEST(ImpairCombination, EditsThatChangeTheHeadersAreFollowedByEditsOfTheHeadersThatWereThere) {
  Engine engine = engine_of("edit:field=bth.opcode,value=RC_SEND_ONLY; edit:field=reth.r_key,value=0x01020304");
  const auto frame = pass(engine, frame_of(Opcode::rc_write_only)).front().bytes;
  EXPECT_EQ(test::parsed(frame).opcode(), Opcode::rc_send_only);
  EXPECT_EQ(icrc_of(frame), IcrcStatus::good);
  const Packet packet = test::parsed(frame);
  EXPECT_EQ(load_big_endian<4>(frame.data() + packet.bth_offset() + 12 + 8), 0x01020304U);
}

TEST(ImpairCombination, CopiesAndDelaysAddUpAndTheFarthestReorderCounts) {
  Engine copies = engine_of("duplicate:copies=2; duplicate");
  EXPECT_EQ(pass(copies, middle(1)).size(), 4U);
  Engine delays = engine_of("delay:by=2us; delay:by=3us");
  pass(delays, middle(1));
  EXPECT_EQ(delays.next_timeout(), at(5000));
  Engine reorders = engine_of("reorder:by=2,psn=0,timeout=7us; reorder:by=1,psn=0,timeout=9us");
  EXPECT_THAT(passed(reorders, {middle(0), middle(1), middle(2), middle(3)}), ElementsAre(2, 3, 1, 4));
}

TEST(ImpairCombination, ALogRecordTellsAllAboutItsAction) {
  Engine engine = engine_of("edit:field=ip.ttl,value=1,psn=9; drop:name=lose again,psn=1,tx=2,skip=1");
  for (const std::uint32_t psn : {100U, 101U, 101U, 101U}) {
    ASSERT_EQ(engine.submit(Direction::b_to_a, middle(psn), at(psn)), Submitted::taken);
  }
  EXPECT_TRUE(drain_log(engine).empty());
  Engine other = engine_of("edit:field=ip.ttl,value=1,psn=9; drop:name=lose again,psn=1,tx=2..,skip=1");
  for (const std::uint32_t psn : {100U, 101U, 101U, 101U}) {
    ASSERT_EQ(other.submit(Direction::b_to_a, middle(psn), at(1'000'000'000 + psn)), Submitted::taken);
  }
  const auto records = drain_log(other);
  ASSERT_EQ(records.size(), 1U);
  const LogRecord expected{
      .time = at(1'000'000'101),
      .packet = 4,
      .rule = 1,
      .outcome = LogOutcome::done,
      .is_roce = true,
      .flow = {Direction::b_to_a, Gid::from_ipv4({{192, 0, 2, 1}}), Gid::from_ipv4({{192, 0, 2, 2}}), Qpn{0x11}},
      .opcode = Opcode::rc_write_middle,
      .packet_class = PacketClass::write,
      .psn = Psn{101},
      .relative_psn = 1,
      .transmission = 3,
      .match = 2};
  EXPECT_EQ(records[0], expected);
  EXPECT_EQ(to_string(records[0], other.rules()),
            "1.000000101 b_to_a packet 4: drop (rule 2 'lose again') 192.0.2.1 > 192.0.2.2 qp 0x000011 "
            "RC_WRITE_MIDDLE psn 101 (+1) transmission 3");
}

TEST(ImpairCombination, LogRecordsOfOtherFramesAndNaksAsText) {
  Engine engine = engine_of("drop:any_frame=true");
  pass(engine, test::Frame(60), Direction::b_to_a, at(-1));
  pass(engine, frame_of(Opcode::rc_acknowledge, {{"aeth.syndrome", "0x60"}}));
  const auto records = drain_log(engine);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(to_string(records[0], engine.rules()), "-0.000000001 b_to_a packet 1: drop (rule 1) not RoCE");
  EXPECT_THAT(to_string(records[1], engine.rules()), testing::HasSubstr("RC_ACKNOWLEDGE (nak) psn 0 (+0)"));
}

/// The complete output of an engine.
struct Result {
  std::vector<test::Sent> sent;
  std::vector<LogRecord> log;
  friend bool operator==(const Result&, const Result&) = default;
};

constexpr std::string_view kEverything =
    "drop:probability=0.1; duplicate:probability=0.1; reorder:probability=0.1,by=3; delay:probability=0.1,by=7ns;"
    "corrupt:probability=0.2,bits=3; mark_ce:probability=0.2; edit:probability=0.1,field=ip.ttl,value=1";

Result run(std::string_view rules, std::uint64_t seed, bool with_log = true) {
  Engine engine = engine_of(rules, seed);
  Result result;
  for (std::uint32_t i = 0; i < 500; ++i) {
    for (auto& one : pass(engine, middle(i), i % 3 == 0 ? Direction::b_to_a : Direction::a_to_b, at(i))) {
      result.sent.push_back(std::move(one));
    }
  }
  for (auto& one : test::drain(engine, at(1'000'000'000))) result.sent.push_back(std::move(one));
  if (with_log) result.log = drain_log(engine);
  EXPECT_EQ(engine.packets_inside(), 0U);
  return result;
}

TEST(ImpairCombination, TheSameSeedGivesTheSameBytesAndLog) {
  EXPECT_EQ(run(kEverything, 42), run(kEverything, 42));
  EXPECT_NE(run(kEverything, 42), run(kEverything, 43));
}

TEST(ImpairCombination, TheRandomNumbersAreTheSameOnEveryMachine) {
  Engine engine = engine_of("drop:probability=0.5", 1);
  // Reference values from a second SplitMix64: the engine's seed makes the rule's seed, which makes the numbers.
  std::string pattern;
  for (int i = 0; i < 24; ++i) pattern += pass(engine, middle(1)).empty() ? 'x' : '.';
  EXPECT_EQ(pattern, "x.x.x..xxx..x..x..xx.x..");
}

TEST(ImpairCombination, ASeedOfItsOwnMakesARuleIndependentOfTheEngines) {
  constexpr std::string_view rules = "drop:probability=0.5,seed=5";
  EXPECT_EQ(run(rules, 1), run(rules, 2));
  EXPECT_NE(run("drop:probability=0.5,seed=5", 1), run("drop:probability=0.5,seed=6", 1));
}

TEST(ImpairCombination, ARuleDoesNotDisturbTheRandomNumbersOfTheOthers) {
  const Result alone = run("drop:probability=0.3", 9, false);
  EXPECT_EQ(alone, run("drop:probability=0.3; mark_ce:probability=0.5,psn=-1", 9, false));
  EXPECT_EQ(run("mark_ce:probability=0.5; drop:probability=0.3", 9, false),
            run("mark_ce:probability=0.5; drop:probability=0.3; corrupt:probability=0", 9, false));
}

}  // namespace
}  // namespace roce::impair
