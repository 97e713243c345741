// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/reporting.h"
#include "conform/commands/selection.h"

namespace roce::conform {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-conform report results.json                            the table and the deviations, as run printed them
  roce-conform report results.json --html results.html        a page for a browser
  roce-conform report results.json --report results.html      one with tables to sort and filter
  roce-conform report new.json --compare old.json             which instances changed between two runs

Exit status: 0 the reports were made, whatever the results are; 1 a file cannot be written; 2 wrong command line, or a
file that is not a result of run --json.)";

struct FileReportOptions {
  std::string result;
  ReportOptions report;
};

ExitCode report(const FileReportOptions& options) {
  if (const auto separate = check_files(options.report, options.result); !separate) {
    return report_failure(separate.error());
  }
  const Outcome<RunResult> result = load_result(options.result);
  if (!result) return report_failure(result.error());
  const Outcome<std::optional<RunResult>> earlier = load_earlier(options.report);
  if (!earlier) return report_failure(earlier.error());
  Outcome<std::optional<page::PageFile>> page = page::open_report(options.report.page);
  if (!page) return report_failure(page.error());
  if (const auto reported = make_reports(options.report, *result, *earlier, *page); !reported) {
    return report_failure(reported.error());
  }
  return ExitCode::ok;
}

}  // namespace

void add_report(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("report", "Report the results of an earlier run, from its JSON file");
  const auto options = std::make_shared<FileReportOptions>();
  command.add_option("RESULT", options->result, "File that run --json wrote").required();
  add_report_options(command, options->report);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = report(*options); });
}

}  // namespace roce::conform
