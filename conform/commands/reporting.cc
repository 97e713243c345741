// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/reporting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "conform/report/changes.h"
#include "conform/report/html_report.h"
#include "conform/report/json_report.h"
#include "conform/report/junit_report.h"
#include "conform/report/packet_files.h"
#include "conform/report/read_result.h"
#include "conform/report/report_page.h"
#include "conform/report/text_report.h"
#include "roce/link/output_file.h"
#include "text/output.h"
#include "text/palette.h"

namespace roce::conform {

namespace {

/// Writes all files; one that cannot be written does not keep the others from it. Returns the first failure.
Outcome<void> write_reports(const ReportOptions& options, const RunResult& result,
                            const std::optional<ResultChanges>& changes, std::optional<page::PageFile>& report) {
  Outcome<void> all;
  const auto note = [&all](Outcome<void> written) {
    if (all && !written) all = std::move(written);
  };
  if (!options.json.empty()) note(write_file(options.json, to_json(result)));
  if (!options.junit.empty()) note(write_file(options.junit, to_junit(result)));
  if (!options.html.empty()) {
    const auto page = to_html(result, changes);
    note(page ? write_file(options.html, *page) : Outcome<void>{failed(page.error())});
  }
  if (report) {
    const auto written = report->write(report_page(result, changes));
    note(written ? Outcome<void>{} : Outcome<void>{failed(written.error())});
  }
  if (options.packets.empty()) return all;
  for (const InstanceRecord& instance : result.instances) {
    if (!instance.outcome.failure && !options.frames) continue;
    if (const auto written = write_packets(options.packets, result, instance); !written) {
      note(failed(written.error()));
      break;
    }
  }
  return all;
}

void print_results(const ReportOptions& options, const RunResult& result, const std::optional<ResultChanges>& changes) {
  const text::Palette palette = text::choose_palette(text::ColourWhen::automatic);
  text::Output output{STDOUT_FILENO, false};
  std::size_t printed = 0;
  std::size_t failures = 0;
  for (const InstanceRecord& instance : result.instances) {
    const CaseOutcome& outcome = instance.outcome;
    if (outcome.result == Result::xpass) {
      text::append(output.buffer(), fmt::format("XPASS  {} passed, and the device is known to fail: {}\n\n",
                                                instance.name, outcome.because));
    } else if (outcome.failure && outcome.result != Result::xfail) {
      if (++failures > options.failures && options.failures != 0) continue;
      append_failure(output.buffer(), result, instance, palette);
      ++printed;
    } else if (options.frames) {
      text::append(output.buffer(), fmt::format("{}  {}\n", to_string(outcome.result), instance.name));
      append_frames(output.buffer(), outcome.frames, palette);
    }
    output.commit();
  }
  if (failures > printed) {
    text::append(output.buffer(),
                 fmt::format("{} more deviations; --failures 0 prints all of them\n\n", failures - printed));
  }
  append_summary(output.buffer(), result, palette);
  if (changes) append_changes(output.buffer(), *changes, options.compare, palette);
  output.flush();
}

}  // namespace

Outcome<void> write_file(const std::string& path, const std::string& content) {
  auto file = link::OutputFile::create(path);
  if (!file) return failed(file.error().message);
  if (const auto written = file->write(std::as_bytes(std::span{content})); !written) {
    return failed(written.error().message);
  }
  if (const auto closed = file->close(); !closed) return failed(closed.error().message);
  return {};
}

Outcome<void> check_writable(std::span<const files::FileUse> written) {
  for (const files::FileUse& each : written) {
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::status(each.path, error).type();
    // To open a pipe and close it again would end its reader.
    const bool is_replaced =
        type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
    if (each.path.empty() || each.path == "-" || !is_replaced) continue;
    if (const auto file = link::OutputFile::create(each.path); !file) {
      return failed(fmt::format("{}: {}", each.what, file.error().message));
    }
  }
  return {};
}

void add_report_options(command_line::Command& command, ReportOptions& options) {
  command.add_option("--failures", options.failures, "Deviations to print; 0: all")
      .type_name("N")
      .capture_default_str();
  command.add_flag("--frames", options.frames, "Print the frames of all instances, not only of those that fail");
  command.add_option("--junit", options.junit, "Write JUnit XML to a file").type_name("FILE");
  command.add_option("--html", options.html, "Write a page for a browser to a file").type_name("FILE");
  command
      .add_option("--report", options.page,
                  "Write a page with tables to sort and filter and with ladders to this file, for a browser; it needs "
                  "nothing else")
      .type_name("FILE.html");
  command
      .add_option("--compare", options.compare,
                  "Report also what changed since an earlier run, whose --json file this is; the exit status stays")
      .type_name("OLD.json");
  command
      .add_option("--packets", options.packets,
                  "Write the frames of instances that fail to a folder, one pcapng each; with --frames of all")
      .type_name("FOLDER");
}

Outcome<void> check_files(const ReportOptions& options, const std::string& result) {
  const std::array read{files::FileUse{"RESULT", result}, files::FileUse{"--compare", options.compare}};
  const std::array written{files::FileUse{"--json", options.json}, files::FileUse{"--junit", options.junit},
                           files::FileUse{"--html", options.html}, files::FileUse{"--report", options.page}};
  if (auto conflict = files::find_conflict(read, written)) return cannot(std::move(*conflict));
  return check_writable(written);
}

Outcome<RunResult> load_result(const std::string& path) {
  tl::expected<RunResult, std::string> result = read_result(path);
  if (!result) return cannot(std::move(result.error()));
  return std::move(*result);
}

Outcome<std::optional<RunResult>> load_earlier(const ReportOptions& options) {
  if (options.compare.empty()) return std::nullopt;
  Outcome<RunResult> earlier = load_result(options.compare);
  if (!earlier) return tl::unexpected(std::move(earlier.error()));
  return std::move(*earlier);
}

Outcome<void> make_reports(const ReportOptions& options, const RunResult& result,
                           const std::optional<RunResult>& earlier, std::optional<page::PageFile>& page) {
  std::optional<ResultChanges> changes;
  if (earlier) changes = compare_results(*earlier, result);
  Outcome<void> written = write_reports(options, result, changes, page);
  print_results(options, result, changes);
  return written;
}

}  // namespace roce::conform
