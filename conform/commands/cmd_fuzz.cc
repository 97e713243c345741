// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/device.h"
#include "conform/commands/reporting.h"
#include "conform/commands/selection.h"
#include "conform/fuzz/finding_case.h"
#include "conform/fuzz/fuzzer.h"
#include "conform/language/functions.h"
#include "runtime/stop_signal.h"
#include "text/live_line.h"
#include "text/output.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

using Clock = std::chrono::steady_clock;
using fuzz::Finding;
using fuzz::FuzzCounts;
using fuzz::Fuzzer;

constexpr std::string_view kExamples = R"(Examples:
  roce-conform fuzz --time 10s                                our own endpoint
  roce-conform fuzz --seed 7 --programs 100000 --findings found
  roce-conform run found/fuzz-1c9f22d7.yaml                   what was found, as a case
  roce-conform fuzz -i eth0 --agent 192.0.2.7:7471 --token-file secret --time 600s --findings found

Frames go to the address of the device and nowhere else.
Exit status: 0 nothing was found, 1 something was or the device died, 2 wrong command line.)";

struct FuzzOptions {
  DeviceChoice device{.jobs = 1};
  std::uint64_t seed = 1;
  std::string time = "60s";
  std::uint64_t programs = 0;  // 0: no limit
  std::string findings;        // a folder
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string progress_text(const Fuzzer& fuzzer, double seconds) {
  const FuzzCounts& counts = fuzzer.counts();
  return fmt::format("{:.0f} s: {} programs, {:.0f} frames/s, {} of {} states, {} signatures, {} findings", seconds,
                     counts.programs, static_cast<double>(counts.frames) / seconds, counts.states, fuzz::kFuzzStates,
                     counts.signatures, fuzzer.findings().size());
}

Outcome<void> write_finding(const FuzzOptions& options, const Finding& finding) {
  if (options.findings.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(options.findings, error);
  if (error) return failed(fmt::format("{}: {}", options.findings, error.message()));
  return write_file(fmt::format("{}/{}.yaml", options.findings, fuzz::case_name(finding.result)),
                    fuzz::case_text(finding.result));
}

/// Runs programs until the time or their number is over, or somebody interrupts. Returns the reason why it ended before
/// that; empty: it did not.
Outcome<std::string> run_programs(Fuzzer& fuzzer, const FuzzOptions& options, Clock::time_point begin) {
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  const auto limit = static_cast<double>(read_time(options.time).value_or(0)) / 1e9;
  constexpr double each = 0.5;
  runtime::StopSignal signal;
  double shown = 0;
  try {
    for (;;) {
      const double seconds = seconds_since(begin);
      if (seconds >= limit || (options.programs != 0 && fuzzer.counts().programs >= options.programs)) return {};
      if (signal.take()) return std::string{"interrupted"};
      const TargetResult<bool> is_new = fuzzer.step();
      if (!is_new) return failed("the device refuses what every program needs: " + is_new.error());
      if (*is_new) {
        if (Outcome<void> written = write_finding(options, fuzzer.findings().back()); !written) {
          return tl::unexpected(written.error());
        }
      }
      if (!shows_progress || seconds - shown < each) continue;
      shown = seconds;
      text::show_live_line(progress_text(fuzzer, seconds));
    }
  } catch (const DeviceGone& gone) {
    return fmt::format("the device stopped answering: {} ({})", gone.what(), to_string(gone.damage()));
  }
}

void print_findings(const Fuzzer& fuzzer) {
  text::TextTable table{{{.heading = "finding"},
                         {.heading = "times", .align = text::Align::right},
                         {.heading = "actions", .align = text::Align::right},
                         {.heading = "oracle"},
                         {.heading = "what"}}};
  for (const Finding& finding : fuzzer.findings()) {
    const fuzz::ProgramResult& result = finding.result;
    table.add_row({{.text = fuzz::case_name(result)},
                   {.text = std::to_string(finding.times)},
                   {.text = std::to_string(result.turns.size())},
                   {.text = std::string{to_string(result.alarm->oracle)}},
                   {.text = result.alarm->what}});
  }
  text::Output output{STDOUT_FILENO, false};
  table.append_text(output.buffer(), {});
  output.flush();
}

ExitCode run_fuzzer(const FuzzOptions& options) {
  Outcome<Device> device = open_device(options.device);
  if (!device) return report_failure(device.error());
  Fuzzer fuzzer{device->factories.front(), device->suite.timing, options.seed};
  const Clock::time_point begin = Clock::now();
  const Outcome<std::string> ended = run_programs(fuzzer, options, begin);
  const double seconds = seconds_since(begin);
  if (isatty(STDERR_FILENO) != 0) text::end_live_line();
  if (!fuzzer.findings().empty()) print_findings(fuzzer);
  fmt::print("{}, seed {}: {}\n", device->text, options.seed, progress_text(fuzzer, seconds));
  if (!ended) return report_failure(ended.error());
  if (!ended->empty()) fmt::print("{}\n", *ended);
  const bool is_dead = !ended->empty() && *ended != "interrupted";
  return fuzzer.findings().empty() && !is_dead ? ExitCode::ok : ExitCode::failed;
}

std::string find_mistake_of_time(const std::string& text) {
  return read_time(text) ? "" : fmt::format("expected a time such as 60s, found {}", text);
}

}  // namespace

void add_fuzz(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("fuzz", "Make up conversations with a device, and find what it does wrong");
  const auto options = std::make_shared<FuzzOptions>();
  command.add_option("-i,--interface", options->device.interface, "Interface that the device is reached through")
      .type_name("IF");
  command
      .add_option(
          "--agent", options->device.agent,
          "Program beside the device: roce-gen peer or roce-agent, by the path of its control socket (with a /) "
          "or HOST:PORT")
      .type_name("AGENT");
  command.add_option("--token-file", options->device.token_file, "File with the secret of an agent on TCP")
      .type_name("FILE");
  command
      .add_option("--profile", options->device.profile, "Behaviour of our endpoint, if that is the device under test")
      .one_of({"strict", "rxe", "hardware_like"})
      .capture_default_str()
      .excludes("--agent");
  command.add_option("--seed", options->seed, "Seed of all random choices").capture_default_str();
  command.add_option("--time", options->time, "Stop after this time, such as 600s")
      .type_name("TIME")
      .check(find_mistake_of_time)
      .capture_default_str();
  command.add_option("--programs", options->programs, "Stop after so many conversations; 0: only after the time")
      .type_name("N")
      .capture_default_str();
  command
      .add_option("--findings", options->findings,
                  "Write what is found to this folder, each as a case that roce-conform run takes")
      .type_name("FOLDER");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_fuzzer(*options); });
}

}  // namespace roce::conform
