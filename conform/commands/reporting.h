// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "command_line/command.h"
#include "command_line/outcome.h"
#include "conform/report/run_result.h"
#include "files/file_use.h"
#include "page/page_file.h"

namespace roce::conform {

/// The parts of a result that a command prints, and the files that it writes.
struct ReportOptions {
  std::uint32_t failures = 20;  ///< deviations that are printed; 0: all
  bool frames = false;          ///< those of all instances too
  std::string json{};           ///< only of `run`
  std::string junit{};
  std::string packets{};  ///< a folder
  std::string html{};
  std::string page{};     ///< of `--report`
  std::string compare{};  ///< the JSON file of an earlier run
};

/// Adds the options that `run` and `report` have in common.
void add_report_options(command_line::Command& command, ReportOptions& options);

/// Finds out whether files that are to replace others, or to be new, can be made, before there is work that would be
/// lost; leaves nothing behind. Failure: one cannot.
[[nodiscard]] Outcome<void> check_writable(std::span<const files::FileUse> written);

/// Finds out whether a file that is written is also read, or cannot be made; `result` is the file that is reported, or
/// empty. Failure: one is (exit code 2), or cannot (1).
[[nodiscard]] Outcome<void> check_files(const ReportOptions& options, const std::string& result);

/// Writes a file whole or not at all. Failure: it cannot be written.
[[nodiscard]] Outcome<void> write_file(const std::string& path, const std::string& content);

/// Reads the JSON file of a run. Failure, with exit code 2: it is not one.
[[nodiscard]] Outcome<RunResult> load_result(const std::string& path);
/// Reads the file of `--compare`, if there is one.
[[nodiscard]] Outcome<std::optional<RunResult>> load_earlier(const ReportOptions& options);

/// Writes the files that are asked for, each whole or not at all, and prints deviations, the table of results, and how
/// they differ from the earlier ones. Failure: a file cannot be written.
/// `page` is the file of `--report`, if there is one.
[[nodiscard]] Outcome<void> make_reports(const ReportOptions& options, const RunResult& result,
                                         const std::optional<RunResult>& earlier, std::optional<page::PageFile>& page);

}  // namespace roce::conform
