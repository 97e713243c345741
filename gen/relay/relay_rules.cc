// SPDX-License-Identifier: BSD-2-Clause
#include "gen/relay/relay_rules.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "roce/json_input/json_input.h"

namespace roce::gen {

namespace {

/// Limits of a file of rules: its bytes, and its values as JSON.
constexpr std::size_t kLargest = std::size_t{16} << 20;
constexpr json_input::Bounds kBounds{.bytes = kLargest, .values = std::size_t{1} << 20};

/// Returns the line, from 1, of the rule with this number.
[[nodiscard]] std::size_t line_of_rule(std::string_view text, std::size_t rule) {
  std::size_t line = 1;
  bool is_blank = true;
  bool is_comment = false;
  for (const char c : text) {
    if (c == ';' && is_comment) continue;
    if (c == '\n' || c == ';') {
      is_blank = true;
      if (c == '\n') {
        is_comment = false;
        ++line;
      }
    } else if (c == '#') {
      is_comment = true;
    } else if (!is_comment && is_blank && c != ' ' && c != '\t' && c != '\r') {
      is_blank = false;
      if (--rule == 0) return line;
    }
  }
  return line;
}

/// Returns a JSON value as the text of a key; the values of a list are joined with /.
[[nodiscard]] std::string value_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::ordered_json& item : value) text += (text.empty() ? "" : "/") + value_text(item);
  return text;
}

[[nodiscard]] Outcome<impair::RuleSet> rules_of_json(const std::string& path, const std::string& content) {
  constexpr std::string_view kExample = "write [{\"action\": \"drop\", \"psn\": 5}]";
  const auto json = json_input::parse<nlohmann::ordered_json>(content, kBounds, json_input::Comments::ignored);
  if (!json) {
    return cannot(fmt::format("{} is not a JSON list of rules: byte {}: {}; {}", path, json.error().byte,
                              json.error().what, kExample));
  }
  if (!json->is_array()) return cannot(fmt::format("{} is not a JSON list of rules; {}", path, kExample));
  std::vector<impair::RuleValues> rules;
  for (const nlohmann::ordered_json& item : *json) {
    impair::RuleValues& rule = rules.emplace_back();
    if (!item.is_object()) return cannot(fmt::format("{}: rule {}: expected an object of keys", path, rules.size()));
    for (const auto& [key, value] : item.items()) rule.emplace_back(key, value_text(value));
  }
  impair::RuleResult<impair::RuleSet> set = impair::RuleSet::from_values(rules);
  if (!set) return cannot(fmt::format("{}: {}", path, set.error().message));
  return std::move(*set);
}

[[nodiscard]] Outcome<impair::RuleSet> rules_of_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string content;
  if (file.is_open()) {
    content.resize(kLargest + 1);
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    content.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    return failed(fmt::format("cannot read the rules in {}: {}", path, std::strerror(errno)));
  }
  if (content.size() > kLargest) {
    return cannot(fmt::format("{} has more than {} MiB, too many for rules", path, kLargest >> 20));
  }
  if (path.ends_with(".json")) return rules_of_json(path, content);
  impair::RuleResult<impair::RuleSet> set = impair::RuleSet::from_text(content);
  if (!set) {
    return cannot(fmt::format("{}, line {}: {}", path, line_of_rule(content, set.error().rule), set.error().message));
  }
  return std::move(*set);
}

}  // namespace

Outcome<impair::RuleSet> load_rules(const std::string& path, const std::vector<std::string>& texts) {
  std::vector<impair::Rule> rules;
  if (!path.empty()) {
    Outcome<impair::RuleSet> set = rules_of_file(path);
    if (!set) return set;
    rules.assign(set->rules().begin(), set->rules().end());
  }
  for (const std::string& text : texts) {
    const impair::RuleResult<impair::RuleSet> set = impair::RuleSet::from_text(text);
    if (!set) return cannot(fmt::format("-e \"{}\": {}", text, set.error().message));
    rules.insert(rules.end(), set->rules().begin(), set->rules().end());
  }
  impair::RuleResult<impair::RuleSet> all = impair::RuleSet::from_rules(std::move(rules));
  if (!all) return cannot(all.error().message);
  return std::move(*all);
}

}  // namespace roce::gen
