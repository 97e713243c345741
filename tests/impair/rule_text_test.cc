// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ImpairText, EveryKeyIsRead) {
  const RuleSet rules = test::rules_of(
      "drop:name=a "
      "b_c-1.2,dir=b_to_a,qp=0x000011,op=write_middle/RC_SEND_ONLY/nak,psn=-3..5,abs_psn=7..9,tx=2..3,skip=4,"
      "count=5,probability=0.25,seed=18446744073709551615");
  ASSERT_EQ(rules.rules().size(), 1U);
  const Rule expected{.name = "a b_c-1.2",
                      .match = {.direction = Direction::b_to_a,
                                .dest_qp = Qpn{0x11},
                                .opcodes = {{PacketClass::write, Position::middle, {}},
                                            {.opcode = Opcode::rc_send_only},
                                            {PacketClass::nak, {}, {}}},
                                .psn = Range<std::int32_t>{-3, 5},
                                .absolute_psn = std::pair{Psn{7}, Psn{9}},
                                .transmission = Range<std::uint32_t>{2, 3}},
                      .skip = 4,
                      .count = 5,
                      .probability = 0.25,
                      .seed = ~std::uint64_t{0},
                      .action = Drop{}};
  EXPECT_EQ(rules.rules()[0], expected);
}

TEST(ImpairText, EveryActionIsRead) {
  using namespace std::chrono_literals;
  const RuleSet rules = test::rules_of(
      "drop\nduplicate:copies=3\nreorder:by=4,timeout=2us\ndelay:by=3ms\ncorrupt:bits=7\ncorrupt:bit=96\nmark_ce\n"
      "edit:field=bth.psn,value=0x10\nreorder\nduplicate:any_frame=true");
  const std::vector<Action> expected{
      Drop{},   Duplicate{3},          Reorder{4, 2us},  Delay{3ms},  Corrupt{.bits = 7}, Corrupt{.bit = 96},
      MarkCe{}, Edit{"bth.psn", "16"}, Reorder{1, 10ms}, Duplicate{1}};
  ASSERT_EQ(rules.rules().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(rules.rules()[i].action, expected[i]) << i;
  EXPECT_TRUE(rules.rules()[9].match.any_frame);
}

TEST(ImpairText, SeparatorsCommentsAndSpaces) {
  const RuleSet rules = test::rules_of("# all of these\n\n  drop : psn = 5 , tx=1 # the fifth\r\n;; mark_ce;drop:\n");
  ASSERT_EQ(rules.rules().size(), 3U);
  EXPECT_EQ(to_text(rules.rules()[0]), "drop:psn=5,tx=1");
  EXPECT_TRUE(test::rules_of("").rules().empty());
}

TEST(ImpairText, SurvivesItsTextForm) {
  const std::vector<std::string> rules{
      "drop",
      "drop:name=fifth,dir=a_to_b,qp=0x000011,op=write_middle,psn=5,tx=1",
      "drop:op=first/send_only/response_last/nak/any/other/RC_COMPARE_SWAP/CNP/0xff",
      "drop:psn=-8388608..8388607,abs_psn=16777215..0,tx=2..4294967295",
      "duplicate:skip=3,count=1,probability=0.1,seed=7,copies=255",
      "duplicate:any_frame=true",
      "reorder:op=ack,probability=1e-09,by=3",
      "reorder:by=511,timeout=1500us",
      "delay:by=3600s",
      "delay:by=1ns",
      "corrupt:bit=40",
      "corrupt:bits=2",
      "mark_ce",
      "edit:field=aeth.syndrome,value=0x60",
      "edit:field=ipv6.dst,value=2001:db8::1",
      "edit:field=eth.src,value=02:00:00:00:00:01",
      "edit:field=cnp.reserved,value=01000000000000000000000000000000",
  };
  std::string all;
  for (const std::string& text : rules) {
    const auto one = RuleSet::from_text(text);
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_EQ(one->to_text(), text + "\n");
    EXPECT_EQ(*RuleSet::from_text(one->to_text()), *one);
    all += text + "\n";
  }
  EXPECT_EQ(test::rules_of(all).to_text(), all);
}

TEST(ImpairText, ShortFormsAreWrittenOut) {
  EXPECT_EQ(test::rules_of("drop:nth=5").to_text(), "drop:skip=4,count=1\n");
  EXPECT_EQ(test::rules_of("drop:op=nack,tx=2..").to_text(), "drop:op=nak,tx=2..4294967295\n");
  EXPECT_EQ(test::rules_of("drop:psn=3..").to_text(), "drop:psn=3..8388607\n");
  EXPECT_EQ(test::rules_of("delay:by=1000000ns").to_text(), "delay:by=1ms\n");
  EXPECT_EQ(test::rules_of("edit:field=aeth.syndrome,value=NAK remote access error").to_text(),
            "edit:field=aeth.syndrome,value=0x62\n");
  EXPECT_EQ(test::rules_of("PacketDrop:skip_count=2,drop_count=3,match_conditions=ack/nack").to_text(),
            "drop:op=ack/nak,skip=2,count=3\n");
  EXPECT_EQ(
      test::rules_of("PacketReorder:skip_count=100,reorder_count=3,hold_count=8,match_conditions=middle").to_text(),
      "reorder:op=middle,skip=100,count=3,by=8\n");
}

struct BadText {
  std::string text;
  std::size_t rule;
  std::string key;
  std::string expects;  ///< part of the message
  std::string found;    ///< another part
};

TEST(ImpairText, ErrorsNameTheRuleTheKeyAndWhatIsAllowed) {
  const std::vector<BadText> cases{
      {"dorp", 1, "action", "drop, duplicate, reorder", "'dorp'"},
      {"drop;;=", 2, "action", "expected drop", "'='"},
      {"drop;drop:psn", 2, "psn", "key=value", "'psn'"},
      {"drop:colour=1", 1, "colour", "dir, qp, op, psn", "colour"},
      {"drop:copies=1", 1, "copies", "no key of drop", "name"},
      {"drop:dir=up", 1, "dir", "a_to_b, b_to_a or both", "'up'"},
      {"drop:qp=0x1000000", 1, "qp", "0 … 16777215", "'0x1000000'"},
      {"drop:op=wirte", 1, "op", "write", "'wirte'"},
      {"drop:op=ack_first", 1, "op", "no position", "ack"},
      {"drop:op=", 1, "op", "write_middle", "''"},
      {"drop:op=ack/", 1, "op", "write_middle", "''"},
      {"drop:op=256", 1, "op", "0x07", "'256'"},
      {"drop:psn=x", 1, "psn", "5..9", "'x'"},
      {"drop:psn=9..5", 1, "psn", "smaller end first", "9..5"},
      {"drop:psn=8388608", 1, "psn", "8388607", "'8388608'"},
      {"drop:abs_psn=-1", 1, "abs_psn", "0..16777215", "'-1'"},
      {"drop:tx=0", 1, "tx", "from 1 on", "'0'"},
      {"drop:tx=3..2", 1, "tx", "smaller end first", "3..2"},
      {"drop:any_frame=yes", 1, "any_frame", "true or false", "'yes'"},
      {"drop:any_frame=true,psn=1", 1, "any_frame", "dir only", "psn"},
      {"drop:skip=-1", 1, "skip", "0 … 18446744073709551615", "'-1'"},
      {"drop:nth=0", 1, "nth", "from 1 on", "'0'"},
      {"drop:nth=2,skip=1", 1, "nth", "skip", "nth=5"},
      {"drop:count=18446744073709551616", 1, "count", "0 …", "'18446744073709551616'"},
      {"drop:probability=1.5", 1, "probability", "0 … 1", "1.5"},
      {"drop:probability=nan", 1, "probability", "0 … 1", "nan"},
      {"drop:probability=half", 1, "probability", "0 … 1", "'half'"},
      {"drop:psn=1,psn=2", 1, "psn", "twice", "psn"},
      {"drop:action=drop", 1, "action", "twice", "action"},
      {"drop:name=x'y", 1, "name", "letters", "'x'y'"},
      {"duplicate:copies=0", 1, "copies", "1 … 255", "0"},
      {"duplicate:copies=256", 1, "copies", "1 … 255", "256"},
      {"reorder:by=512", 1, "by", "1 … 511", "512"},
      {"reorder:by=0", 1, "by", "1 … 511", "0"},
      {"reorder:timeout=0ns", 1, "timeout", "1ns … 3600s", "0ns"},
      {"reorder:timeout=5", 1, "timeout", "ns, us, ms or s", "'5'"},
      {"delay", 1, "by", "delay needs it", ""},
      {"delay:by=3601s", 1, "by", "3600s", "3601000000000ns"},
      {"delay:by=99999999999s", 1, "by", "ns, us, ms or s", "'99999999999s'"},
      {"corrupt:bit=32", 1, "bit", "32 … 39 are not", "32"},
      {"corrupt:bit=1,bits=2", 1, "bits", "without bit", ""},
      {"corrupt:bits=65", 1, "bits", "1 … 64", "65"},
      {"edit:value=1", 1, "field", "edit needs it", ""},
      {"edit:field=bth.psn", 1, "value", "edit needs it", ""},
      {"edit:field=bth.spn,value=1", 1, "field", "bth has opcode", "'bth.spn'"},
      {"edit:field=bht.psn,value=1", 1, "field", "bth.psn", "'bht.psn'"},
      {"edit:field=bth,value=1", 1, "field", "bth has opcode", "'bth'"},
      {"edit:field=payload.x,value=1", 1, "field", "no fields", "'payload.x'"},
      {"edit:field=bth.psn,value=0x1000000", 1, "value", "0 … 16777215", "'0x1000000'"},
      {"PacketDrop:skip_count=1", 1, "drop_count", "PacketDrop needs it", ""},
      {"PacketDrop:drop_count=1,skip=1", 1, "", "", ""},
      {"PacketReorder:skip_count=500,reorder_count=4,hold_count=8", 1, "hold_count", "< 512", "500, 4 and 8"},
  };
  for (const BadText& one : cases) {
    const auto rules = RuleSet::from_text(one.text);
    if (one.expects.empty()) continue;
    ASSERT_FALSE(rules.has_value()) << one.text;
    EXPECT_EQ(rules.error().rule, one.rule) << one.text;
    EXPECT_EQ(rules.error().key, one.key) << one.text;
    EXPECT_THAT(rules.error().message, AllOf(HasSubstr("rule " + std::to_string(one.rule) + ": " + one.key + ": "),
                                             HasSubstr(one.expects), HasSubstr(one.found)))
        << one.text;
  }
}

TEST(ImpairText, RulesMadeInCodeAreCheckedToo) {
  const auto error_of = [](Rule rule) {
    const auto rules = RuleSet::from_rules({Rule{}, std::move(rule)});
    return rules ? std::string{} : rules.error().message;
  };
  EXPECT_EQ(error_of({}), "");
  EXPECT_THAT(error_of({.name = " x"}), HasSubstr("rule 2: name: "));
  EXPECT_THAT(error_of({.match = {.psn = Range<std::int32_t>{-8388609, 0}}}), HasSubstr("rule 2: psn: "));
  EXPECT_THAT(error_of({.match = {.transmission = Range<std::uint32_t>{0, 1}}}), HasSubstr("rule 2: tx: "));
  EXPECT_THAT(error_of({.probability = -0.1}), HasSubstr("rule 2: probability: "));
  EXPECT_THAT(error_of({.action = Delay{}}), HasSubstr("rule 2: by: "));
  EXPECT_THAT(error_of({.action = Edit{}}), HasSubstr("rule 2: field: "));
  const auto good = RuleSet::from_rules({Rule{.match = {.opcodes = {{PacketClass::send, Position::first, Opcode::cnp}}},
                                              .action = Edit{"bth.psn", "0x10"}}});
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(test::rules_of(good->to_text()), *good) << "what does not count is left out";
}

}  // namespace
}  // namespace roce::impair
