// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/selection.h"
#include "conform/report/run_result.h"
#include "conform/report/text_report.h"
#include "conform/run/case_run.h"
#include "conform/target/memory_target.h"
#include "text/output.h"
#include "text/palette.h"

namespace roce::conform {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-conform show --only psn-gap                            what is sent and what is expected
  roce-conform show --only 'rnr-codes[code=12,op=SEND_ONLY]')";

constexpr std::uint64_t kSeed = 1;

std::string parameter_text(const Parameter& parameter) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(parameter.values.size(), most); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", parameter.values[i].text);
  }
  if (parameter.values.size() > most) text += fmt::format(", … ({} values)", parameter.values.size());
  return text;
}

void append_case(text::TextBuffer& out, const LoadedCases& loaded, const Case& one, const text::Palette& palette) {
  text::append(out, fmt::format("{}: {}\n", one.id, one.title));
  text::append(out, fmt::format("  level  {}\n  rules  {}\n  file   {}\n", to_string(one.level),
                                fmt::join(one.rules, ", "), to_string(one.place)));
  for (const Parameter& parameter : one.parameters) {
    text::append(out, fmt::format("  {}: {}\n", parameter.name, parameter_text(parameter)));
  }
  if (!one.why.empty()) text::append(out, fmt::format("\n  {}\n", one.why));
  const auto instance = std::ranges::find(loaded.instances, &one, &Instance::of);
  const std::uint64_t seed = instance->seed(kSeed);
  MemoryTarget target{transport::strict_profile(), seed};
  const RunResult result =
      make_result({.seed = kSeed}, {*instance}, {CaseRun{target, *instance, seed, {}}.run()}, true);
  const InstanceRecord& record = result.instances.front();
  text::append(out, fmt::format("\n{} against our own endpoint:\n", record.name));
  append_frames(out, record.outcome.frames, palette);
  if (record.outcome.failure) append_failure(out, result, record, palette);
  text::append(out, "\n");
}

ExitCode show(const Selection& selection) {
  const Outcome<LoadedCases> loaded = load(selection);
  if (!loaded) return report_failure(loaded.error());
  text::Output output{STDOUT_FILENO, false};
  for (const Case& one : loaded->cases) {
    if (std::ranges::find(loaded->instances, &one, &Instance::of) == loaded->instances.end()) continue;
    append_case(output.buffer(), *loaded, one, text::choose_palette(text::ColourWhen::automatic));
    output.commit();
  }
  output.flush();
  return ExitCode::ok;
}

}  // namespace

void add_show(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("show", "Show a case: its rule, and its frames as a ladder");
  const auto selection = std::make_shared<Selection>();
  add_selection(command, *selection);
  command.footer(std::string{kExamples});
  command.callback([selection, &code] { code = show(*selection); });
}

}  // namespace roce::conform
