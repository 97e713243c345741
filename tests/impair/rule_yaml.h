// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "roce/impair/rule.h"
#include "yaml/yaml_input.h"

namespace roce::impair::test {

/// Returns a scalar as it is written; a list with / between its items.
inline std::string scalar_text(const YAML::Node& node) {
  if (!node.IsSequence()) return node.Scalar();
  std::string text;
  for (const YAML::Node& item : node) text += (text.empty() ? "" : "/") + item.Scalar();
  return text;
}

/// Returns the values of one rule: a map of keys, or an action's name with a map of keys, or an action's name alone.
inline RuleValues values_of(const YAML::Node& node) {
  if (node.IsScalar()) return {{"action", node.Scalar()}};
  RuleValues values;
  if (!node.IsMap()) return values;
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

/// Returns the rules of a list, as a program reads them; no rules if the node is not a list.
inline RuleResult<RuleSet> rules_of_yaml(const YAML::Node& list) {
  std::vector<RuleValues> rules;
  if (!list.IsSequence()) return RuleSet::from_values(rules);
  for (const YAML::Node& node : list) rules.push_back(values_of(node));
  return RuleSet::from_values(rules);
}

}  // namespace roce::impair::test
