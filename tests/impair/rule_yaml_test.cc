// SPDX-License-Identifier: BSD-2-Clause
// Rules that were written as YAML and that a program hands over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/rule_yaml.h"
#include "impair/support.h"

namespace roce::impair {
namespace {

RuleResult<RuleSet> rules_of_yaml(const std::string& yaml) {
  return test::rules_of_yaml(yaml_input::load(yaml).value());
}

TEST(ImpairYaml, GivesTheSameRulesAsTheShortForm) {
  const auto rules = rules_of_yaml(R"(
- action: drop
  name: the fifth
  dir: a_to_b
  qp: 0x11
  op: write_middle
  psn: 5
  tx: 1
- {action: reorder, by: 3, op: [ack, nak], probability: 0.01}
- edit: {field: aeth.syndrome, value: 0x60, op: ack}
- mark_ce
)");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(*rules, test::rules_of("drop:name=the fifth,dir=a_to_b,qp=0x11,op=write_middle,psn=5,tx=1\n"
                                   "reorder:by=3,op=ack/nak,probability=0.01\n"
                                   "edit:field=aeth.syndrome,value=0x60,op=ack\n"
                                   "mark_ce"));
}

TEST(ImpairYaml, TakesTheModelsOfAidcb) {
  const auto rules = rules_of_yaml(R"(
- PacketDrop: {skip_count: 10, drop_count: 2, match_conditions: [first, last]}
- PacketReorder: {skip_count: 5, reorder_count: 1, hold_count: 4, match_conditions: [nack]}
)");
  ASSERT_TRUE(rules.has_value()) << rules.error().message;
  EXPECT_EQ(*rules, test::rules_of("drop:op=first/last,skip=10,count=2; reorder:op=nak,skip=5,count=1,by=4"));
}

TEST(ImpairYaml, ErrorsNameTheRule) {
  const auto rules = rules_of_yaml("- drop\n- {action: drop, psn: five}");
  ASSERT_FALSE(rules.has_value());
  EXPECT_THAT(rules.error().message, testing::StartsWith("rule 2: psn: expected "));
  const auto none = rules_of_yaml("- {psn: 5}");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().key, "action");
}

}  // namespace
}  // namespace roce::impair
