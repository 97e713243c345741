// SPDX-License-Identifier: BSD-2-Clause
// How a program hands rules over that were written as YAML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

/// A scalar as it is written; a list with / between.
std::string scalar_text(const YAML::Node& node) {
  if (!node.IsSequence()) return node.Scalar();
  std::string text;
  for (const YAML::Node& item : node) text += (text.empty() ? "" : "/") + item.Scalar();
  return text;
}

/// One rule of a list: a map of keys, or an action's name with a map of keys, or an action's name alone.
RuleValues values_of(const YAML::Node& node) {
  if (node.IsScalar()) return {{"action", node.Scalar()}};
  RuleValues values;
  for (const auto& pair : node) {
    if (pair.second.IsMap()) {
      values.emplace_back("action", pair.first.Scalar());
      for (const auto& inner : pair.second) values.emplace_back(inner.first.Scalar(), scalar_text(inner.second));
    } else {
      values.emplace_back(pair.first.Scalar(), scalar_text(pair.second));
    }
  }
  return values;
}

RuleResult<RuleSet> rules_of_yaml(const std::string& yaml) {
  std::vector<RuleValues> rules;
  for (const YAML::Node& node : YAML::Load(yaml)) rules.push_back(values_of(node));
  return RuleSet::from_values(rules);
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
