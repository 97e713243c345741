// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>
#include <thread>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/selection.h"
#include "conform/run/suite.h"
#include "conform/target/memory_target.h"
#include "text/human_units.h"

namespace roce::conform {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-conform check my-cases
  roce-conform check my-cases/psn/psn-mine.yaml

Exit status: 0 all cases can run, 2 one cannot, with the file and line of its mistake.)";

ExitCode check(const Selection& selection) {
  const Outcome<LoadedCases> loaded = load(selection);
  if (!loaded) return report_failure(loaded.error());
  const TargetFactory make_target = [](std::uint64_t seed) {
    return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
  };
  const std::vector<TargetFactory> factories(std::max(1U, std::thread::hardware_concurrency()), make_target);
  const std::vector<CaseOutcome> outcomes = run_suite(loaded->instances, factories, {}, [](std::size_t) {});
  ExitCode code = ExitCode::ok;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].result != Result::error) continue;
    const StepFailure& failure = *outcomes[i].failure;
    code = report_failure({ExitCode::usage, fmt::format("{}: {} ({})", to_string(failure.place), failure.what,
                                                        loaded->instances[i].name())});
  }
  if (code == ExitCode::ok) {
    fmt::print("{}, {}: all of them can run\n", text::counted(loaded->cases.size(), "case", "cases"),
               text::counted(loaded->instances.size(), "instance", "instances"));
  }
  return code;
}

}  // namespace

void add_check(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("check", "Check case files, with their steps against our own endpoint in memory");
  const auto selection = std::make_shared<Selection>();
  add_selection(command, *selection);
  command.footer(std::string{kExamples});
  command.callback([selection, &code] { code = check(*selection); });
}

}  // namespace roce::conform
