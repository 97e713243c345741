// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>

#include "analyze/commands/commands.h"
#include "analyze/report/json_values.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze rules
  roce-analyze rules --json | jq -r 'select(.severity == "error") | .verdict'
  roce-analyze rules --json | jq -r 'select(.rule == "RC-RESP-02") | .text')";

text::Tone tone_of(analysis::Severity severity) {
  return severity == analysis::Severity::error     ? text::Tone::bad
         : severity == analysis::Severity::warning ? text::Tone::caution
                                                   : text::Tone::plain;
}

std::vector<text::TableCell> row_of(const analysis::VerdictInfo& info, std::string_view rule, std::string text) {
  const text::Tone tone = tone_of(info.severity);
  return {{std::string{info.name}, tone},
          {std::string{rule}},
          {std::string{severity_text(info.severity)}, tone},
          {info.time == analysis::VerdictTime::immediate ? "immediate" : "retrospective"},
          {std::move(text)},
          {std::string{info.advice}}};
}

// The party is left out where the rule applies to either end.
std::string text_of(const analysis::RuleInfo& rule) {
  if (rule.party == analysis::RuleParty::either) return std::string{rule.text};
  return fmt::format("{}: {}", to_string(rule.party), rule.text);
}

ExitCode run_rules(const AnalysisOptions& options) {
  AnalysisSession session{options};
  session.prepare_output();
  RowWriter rows{session,
                 {{"verdict"},
                  {"rule"},
                  {"severity"},
                  {"when"},
                  {"meaning", text::Align::left, "text"},
                  {"what to do", text::Align::left, "advice"}}};
  for (const analysis::VerdictInfo& info : analysis::verdict_infos())
    rows.add(row_of(info, "", std::string{info.text}));
  for (const analysis::RuleInfo& rule : analysis::rule_infos()) {
    rows.add(row_of(verdict_info(verdict_of(rule.rule)), rule.identifier, text_of(rule)));
  }
  rows.finish();
  return session.finish();
}

}  // namespace

void add_rules(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("rules", "What verdicts there are, what they mean and what to do");
  const auto options = std::make_shared<AnalysisOptions>();
  command.add_flag("--json", options->json, "One object a verdict, one a line");
  command.add_flag("--csv", options->csv, "For programs: CSV").excludes("--json");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_rules(*options); });
}

}  // namespace roce::analyze
