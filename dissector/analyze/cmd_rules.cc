// SPDX-License-Identifier: BSD-2-Clause
#include <CLI/CLI.hpp>
#include <memory>

#include "analyze/analysis_session.h"
#include "analyze/json_values.h"
#include "analyze/list_commands.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze rules
  roce-analyze rules --json | jq -r 'select(.severity == "error") | .verdict')";

ExitCode run_rules(const AnalysisOptions& options) {
  AnalysisSession session{options};
  session.prepare_output();
  RowWriter rows{
      session,
      {{"verdict"}, {"severity"}, {"when"}, {"meaning", Align::left, "text"}, {"what to do", Align::left, "advice"}}};
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    const Tone tone = info.severity == analysis::Severity::error     ? Tone::bad
                      : info.severity == analysis::Severity::warning ? Tone::caution
                                                                     : Tone::plain;
    rows.add({{std::string{info.name}, tone},
              {std::string{severity_text(info.severity)}, tone},
              {info.time == analysis::VerdictTime::immediate ? "immediate" : "retrospective"},
              {std::string{info.text}},
              {std::string{info.advice}}});
  }
  rows.finish();
  return session.finish();
}

}  // namespace

void add_rules(CLI::App& app, ExitCode& code) {
  CLI::App* command = app.add_subcommand("rules", "What verdicts there are, what they mean and what to do");
  const auto options = std::make_shared<AnalysisOptions>();
  command->add_flag("--json", options->json, "One object a verdict, one a line");
  command->add_flag("--csv", options->csv, "For programs: CSV")->excludes("--json");
  command->footer(std::string{kExamples});
  command->callback([options, &code] { code = run_rules(*options); });
}

}  // namespace roce::analyze
