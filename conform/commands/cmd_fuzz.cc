// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/device.h"
#include "conform/commands/fuzz_session.h"
#include "conform/commands/fuzz_target.h"
#include "conform/commands/reporting.h"
#include "conform/commands/selection.h"
#include "conform/fuzz/finding_case.h"
#include "conform/language/functions.h"
#include "conform/report/fuzz_json.h"
#include "files/file_use.h"
#include "text/human_units.h"
#include "text/live_line.h"
#include "text/output.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

using fuzz::Finding;

constexpr std::string_view kExamples = R"(Examples:
  roce-conform fuzz --time 10s                                our own endpoint
  roce-conform fuzz --seed 7 --programs 100000 --findings found
  roce-conform run found/fuzz-1c9f22d7.yaml                   what was found, as a case
  roce-conform fuzz --corpus corpus --time 3600s --resume              go on after anything
  roce-conform fuzz --capture captures/softroce/rc-mix-v4.tx.pcap      begin with what was asked there
  roce-conform fuzz --corpus best --merge corpus other-corpus          the fewest programs that show as much
  roce-conform fuzz -i eth0 --target 192.0.2.7 --agent 192.0.2.7:7471 --token-file secret --time 600s --findings found

Frames go to the address of the device and nowhere else.
Exit status: 0 nothing was found that shows again, 1 something was, the device died or a file cannot be read,
2 wrong command line or environment, or a damaged corpus.)";

void print_findings(const std::vector<Finding>& findings) {
  text::TextTable table{{{.heading = "finding"},
                         {.heading = "times", .align = text::Align::right},
                         {.heading = "alone", .align = text::Align::right},
                         {.heading = "actions", .align = text::Align::right},
                         {.heading = "oracle"},
                         {.heading = "what"}}};
  for (const Finding& finding : findings) {
    const fuzz::ProgramResult& result = finding.result;
    table.add_row({{.text = fuzz::case_name(result)},
                   {.text = std::to_string(finding.times)},
                   {.text = fmt::format("{} of {}", finding.shown, finding.repeats)},
                   {.text = std::to_string(result.program.actions.size())},
                   {.text = std::string{to_string(result.alarm->oracle)}},
                   {.text = result.alarm->what}});
  }
  text::Output output{STDOUT_FILENO, false};
  table.append_text(output.buffer(), {});
  output.flush();
}

/// True if a finding is not one that came once and never again, as a lost frame or a tester that is too slow make it,
/// or a device that dies for other reasons.
bool counts(const Finding& finding) {
  const bool is_death = finding.result.alarm->oracle == fuzz::Oracle::gone;
  return finding.repeats == 0 || finding.shown != 0 || (finding.times > 1 && !is_death);
}

/// Returns the exit code if nothing was found: a damaged corpus is worth a look.
ExitCode code_without_findings(const FuzzSession& session) {
  return session.has_damages() ? ExitCode::usage : ExitCode::ok;
}

ExitCode merge_corpora(FuzzSession& session) {
  const Outcome<std::string> merged = session.merge();
  if (!merged) return report_failure(merged.error());
  fmt::print("{}\n", *merged);
  return code_without_findings(session);
}

/// Finds out whether the summary can be written beside what is read. Failure: it cannot.
Outcome<void> check_summary(const FuzzOptions& options) {
  std::vector<files::FileUse> read{{"--token-file", options.device.token_file}};
  for (const std::string& capture : options.captures) read.push_back({"--capture", capture});
  const std::array written{files::FileUse{"--json", options.json}};
  if (auto conflict = files::find_conflict(read, written)) return cannot(std::move(*conflict));
  return check_writable(written);
}

ExitCode run_fuzzer(const FuzzOptions& options) {
  if (const Outcome<void> right = check_summary(options); !right) return report_failure(right.error());
  if (const Outcome<void> possible = check_target(options.device, options.target); !possible) {
    return report_failure(possible.error());
  }
  DeviceChoice choice = options.device;
  if (choice.jobs == 0 && !choice.has_agent()) choice.jobs = 1;
  Outcome<Device> device = open_device(choice);
  if (!device) return report_failure(device.error());
  if (const Outcome<void> right = check_device(*device, options.target); !right) return report_failure(right.error());
  FuzzSession session{options, *device};
  if (const Outcome<void> opened = session.open(); !opened) return report_failure(opened.error());
  if (!options.merge.empty()) return merge_corpora(session);
  const Outcome<std::string> ended = session.run();
  if (isatty(STDERR_FILENO) != 0) text::end_live_line();
  if (!session.findings().empty()) print_findings(session.findings());
  fmt::print("{}, seed {}: {}\n", device->text, options.seed, session.summary());
  if (const std::string plateau = session.plateau_text(); !plateau.empty()) fmt::print("{}\n", plateau);
  if (!ended) return report_failure(ended.error());
  if (!ended->empty()) fmt::print("{}\n", *ended);
  if (!options.json.empty()) {
    const Outcome<void> written = write_file(options.json, to_json(session.full_summary(*ended)));
    if (!written) return report_failure(written.error());
  }
  const bool is_dead = !ended->empty() && *ended != "interrupted";
  const auto& findings = session.findings();
  if (is_dead || std::ranges::any_of(findings, counts)) return ExitCode::failed;
  if (!findings.empty()) {
    fmt::print("{} once and never again: a frame was lost, or this program too slow\n",
               text::counted(findings.size(), "finding showed", "findings showed"));
  }
  return code_without_findings(session);
}

void add_corpus_options(command_line::Command& command, FuzzOptions& options) {
  const command_line::Option corpus =
      command
          .add_option("--corpus", options.corpus,
                      "Keep programs in which something new happened in this folder, and go on from those that are "
                      "there; several fuzzers can use it, each with its own --seed")
          .type_name("FOLDER");
  command_line::Option resume =
      command.add_flag("--resume", options.resume,
                       "Go on where the fuzzer with this corpus and seed ended, however it did; its time and programs "
                       "count");
  resume.needs(corpus);
  command
      .add_option(
          "--capture", options.captures,
          "Begin with what QPs are asked in these captures, as if the device were asked it, and go on from that")
      .type_name("FILE...");
  command
      .add_option("--merge", options.merge,
                  "Make the corpus the fewest programs, of its own and of these folders, that show as much, and end")
      .type_name("FOLDER...")
      .needs(corpus)
      .excludes("--resume")
      .excludes("--capture")
      .excludes("--json");
  command.add_option("--plateau", options.plateau, "Say that nothing new comes if no signature was new for so long")
      .type_name("TIME")
      .check(find_mistake_of_time)
      .capture_default_str();
}

}  // namespace

void add_fuzz(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("fuzz", "Make up conversations with a device, and find what it does wrong");
  const auto options = std::make_shared<FuzzOptions>();
  command.add_option("-i,--interface", options->device.interface, "Interface that the device is reached through")
      .type_name("IF");
  const command_line::Option agent =
      command
          .add_option(
              "--agent", options->device.agent,
              "Program beside the device: roce-gen peer or roce-agent, by the path of its control socket (with a /) "
              "or HOST:PORT")
          .type_name("AGENT");
  add_recovery_options(command, options->recovery, agent);
  command.add_option("--target", options->target, "Address of the device, the only one that frames go to")
      .type_name("ADDRESS");
  command
      .add_option("-j,--jobs", options->device.jobs,
                  "Make up so many conversations at the same time (default: 16 on a wire; 1 in memory, where the same "
                  "seed then makes the same ones)")
      .range(1U, kMostJobsOnLink);
  command
      .add_option("--rate", options->rate,
                  "Send at most so many frames a second; 0: no limit (default: 10000 on a wire)")
      .type_name("N");
  command.add_option("--token-file", options->device.token_file, "File with the secret of an agent on TCP")
      .type_name("FILE");
  command
      .add_option("--profile", options->device.profile, "Behaviour of our endpoint, if that is the device under test")
      .one_of({"strict", "rxe", "hardware_like"})
      .capture_default_str()
      .excludes("--agent");
  command
      .add_option("--recovery", options->device.recovery,
                  "What our endpoint does about losses beyond the specification, as roce-gen peer --recovery has it")
      .type_name("PART[,PART…]")
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
  command.add_option("--json", options->json, "Write a summary of the run to a file").type_name("FILE");
  add_corpus_options(command, *options);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_fuzzer(*options); });
}

}  // namespace roce::conform
