// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include <unistd.h>
#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/selection.h"
#include "text/output.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-conform list                                           all cases that came with the program
  roce-conform list --only 'psn-*'
  roce-conform list my-cases                                  your own, in this folder)";

struct ListOptions {
  Selection selection;
  bool json = false;
};

ExitCode list(const ListOptions& options) {
  const Outcome<LoadedCases> loaded = load(options.selection);
  if (!loaded) return report_failure(loaded.error());
  text::TextTable table{{{.heading = "case"},
                         {.heading = "level"},
                         {.heading = "instances", .align = text::Align::right},
                         {.heading = "title"},
                         {.heading = "rules"}}};
  for (const Case& one : loaded->cases) {
    const auto instances = std::ranges::count(loaded->instances, &one, &Instance::of);
    if (instances == 0) continue;
    table.add_row({{.text = one.id},
                   {.text = std::string{to_string(one.level)}},
                   {.text = std::to_string(instances), .exact = std::int64_t{instances}},
                   {.text = one.title},
                   {.text = fmt::format("{}", fmt::join(one.rules, ", "))}});
  }
  text::Output output{STDOUT_FILENO, false};
  if (options.json) {
    table.append_ndjson(output.buffer());
  } else {
    table.append_text(output.buffer(), {});
  }
  output.flush();
  return ExitCode::ok;
}

}  // namespace

void add_list(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("list", "List cases with their rules");
  const auto options = std::make_shared<ListOptions>();
  add_selection(command, options->selection);
  command.add_flag("--json", options->json, "One JSON object a case, one a line");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = list(*options); });
}

}  // namespace roce::conform
