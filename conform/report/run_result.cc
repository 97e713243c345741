// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "conform/report/embedded_texts.h"

namespace roce::conform {

namespace {

/// Returns the text of a rule; empty if it is not one of docs/rules.md, but a section of the specification.
std::string find_rule_text(std::string_view rule) {
  const std::string row = fmt::format("| {} | ", rule);
  const std::size_t begin = kRuleRows.find(row);
  if (begin == std::string_view::npos) return {};
  std::string_view text = kRuleRows.substr(begin + row.size());
  text = text.substr(0, text.find('\n'));
  // Rows are joined by semicolons, as CMake does with lists.
  return std::string{text.substr(0, text.find_last_not_of(" ;") + 1)};
}

std::string shell_word(std::string_view argument) {
  const auto is_plain = [](char c) {
    return std::string_view{"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_./:=,@+%"}.find(c) !=
           std::string_view::npos;
  };
  if (!argument.empty() && std::ranges::all_of(argument, is_plain)) return std::string{argument};
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

}  // namespace

RunResult make_result(Tested tested, const std::vector<Instance>& instances, std::vector<CaseOutcome> outcomes,
                      bool keeps_all_frames) {
  RunResult result{.tested = std::move(tested)};
  result.instances.reserve(instances.size());
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const Case& of = *instances[i].of;
    InstanceRecord record{.name = instances[i].name(), .of = of.id, .level = of.level, .rules = of.rules};
    record.parameters.reserve(instances[i].parameters.size());
    for (const auto& [name, value] : instances[i].parameters) record.parameters.emplace_back(name, value.text);
    record.outcome = std::move(outcomes[i]);
    if (!record.outcome.failure && !keeps_all_frames) record.outcome.frames.clear();
    result.instances.push_back(std::move(record));
    if (!result.cases.try_emplace(of.id, CaseRecord{of.title, of.why, *of.place.file}).second) continue;
    for (const std::string& rule : of.rules) {
      if (std::string text = find_rule_text(rule); !text.empty()) result.rules.try_emplace(rule, std::move(text));
    }
  }
  return result;
}

std::string command_for(const Tested& tested, const std::string& instance) {
  std::string command = "roce-conform run";
  for (const std::string& argument : tested.arguments) command += " " + shell_word(argument);
  return fmt::format("{} --only {} --seed {}", command, shell_word(instance), tested.seed);
}

}  // namespace roce::conform
