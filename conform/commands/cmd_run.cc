// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/device.h"
#include "conform/commands/recovery.h"
#include "conform/commands/reporting.h"
#include "conform/commands/selection.h"
#include "conform/language/device_profile.h"
#include "conform/language/functions.h"
#include "conform/report/run_result.h"
#include "conform/report/tally.h"
#include "conform/run/known_deviations.h"
#include "conform/run/noise.h"
#include "conform/run/suite.h"
#include "runtime/stop_signal.h"
#include "text/live_line.h"

namespace roce::conform {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-conform run                                            all cases, against our own endpoint
  roce-conform run --profile rxe                              the endpoint with the behaviour of Soft-RoCE
  roce-conform run --only 'nak-*' --frames                    some, with all frames
  roce-conform run --only 'rnr-codes[code=12,op=SEND_ONLY]' --seed 7
  roce-conform run --json results.json --html results.html    files of the results; --compare old.json: what changed
  roce-conform run -i eth0 --agent 192.0.2.7:7471 --token-file secret      a device on a wire, with an agent beside it
  roce-conform run my-cases                                   your own, in this folder

Exit status: 0 each case of level must passed, 1 one did not or the device died, 2 wrong command line or case file.)";

constexpr std::uint32_t kMostProbes = 1'000'000;
constexpr std::uint32_t kMostTries = 1000;

struct RunOptions {
  Selection selection;
  DeviceChoice device;
  std::uint64_t seed = 1;
  std::uint32_t probes = 1000;
  RecoveryChoice recovery;
  std::string server_time = "10s";
  std::uint32_t tries = 0;  // 0: as many as the loss on the wire asks for
  std::string profile_of_device;
  bool may_stop = false;
  bool strict = false;
  ReportOptions report;
};

ExitCode exit_code(const RunOptions& options, const RunResult& result) {
  const Tally all = count_all(result);
  if (all.wrong != 0) return ExitCode::usage;
  const bool deviates = options.strict && all.deviating + all.inconclusive != 0;
  return all.failed + all.open + all.surprising + all.lost != 0 || deviates ? ExitCode::failed : ExitCode::ok;
}

Outcome<std::optional<DeviceProfile>> load_profile(const RunOptions& options, const LoadedCases& loaded) {
  if (options.profile_of_device.empty()) return std::nullopt;
  CaseResult<DeviceProfile> profile = read_device_profile(options.profile_of_device);
  if (!profile) return cannot(to_string(profile.error()));
  std::vector<Instance> all;
  for (const Case& one : loaded.cases) {
    if (CaseResult<std::vector<Instance>> instances = expand(one))
      std::ranges::move(*instances, std::back_inserter(all));
  }
  if (const auto stray = find_stray_pattern(*profile, all)) return cannot(to_string(*stray));
  return std::move(*profile);
}

void set_times(Timing& timing, const DeviceProfile& profile) {
  timing.answer = profile.answer.value_or(timing.answer);
  timing.quiet = profile.quiet.value_or(timing.quiet);
  timing.early = profile.early.value_or(timing.early);
  timing.late = profile.late.value_or(timing.late);
}

/// Lets an instance run at most so often.
void set_most(TryPlan& plan, std::uint32_t most) {
  plan.most = most;
  plan.passes = std::min(plan.passes, most);
  plan.failures = std::min(plan.failures, most);
}

/// Measures the wire before the first case, prints what it is like, and lets times and repetitions fit it.
void set_by_noise(Device& device, const RunOptions& options, std::optional<Noise>& noise) {
  try {
    const std::unique_ptr<Target> target = device.factories.front()(options.seed);
    TargetResult<Noise> measured = measure_noise(*target, options.probes);
    if (!measured) {
      fmt::print("no probes: {}\n", measured.error());
      return;
    }
    noise = *measured;
  } catch (const DeviceGone&) {
    // The first instance finds that out too, and is where it is reported.
    return;
  }
  fmt::print("{}\n", to_string(*noise));
  widen(device.suite.timing, *noise);
  constexpr double much = 1e-4;
  if (noise->loss() <= much) return;
  device.suite.tries = plan_for_loss(noise->loss());
  fmt::print(
      "warning: {:.2g} % of the frames are lost in each direction: a pass has to be seen {} times, a failure {}\n",
      100 * noise->loss(), device.suite.tries.passes, device.suite.tries.failures);
}

/// Sets what a run of this device follows: the seed, times and known deviations of its profile, and the wire.
void set_up(Device& device, const RunOptions& options, const std::optional<DeviceProfile>& profile,
            std::optional<Noise>& noise) {
  device.suite.seed = options.seed;
  if (profile) set_times(device.suite.timing, *profile);
  if (profile && !options.may_stop) device.suite.may_stop = profile->may_stop;
  if (profile) {
    device.suite.is_known = [&profile](const Instance& instance, const CaseOutcome& outcome) {
      return is_known_deviation(*profile, instance, outcome);
    };
  }
  if (options.device.has_agent() && options.probes != 0) set_by_noise(device, options, noise);
  device.suite.recover = recovery_of(options.recovery, device.ways);
  if (options.tries != 0) set_most(device.suite.tries, options.tries);
  (void)std::fflush(stdout);
}

/// SIGINT and SIGTERM as the wish that nothing more begins, so that what was found is not lost.
class Interruption {
 public:
  [[nodiscard]] bool has_come() {
    if (signal_.take()) has_come_ = true;
    return has_come_;
  }

 private:
  runtime::StopSignal signal_;
  std::atomic<bool> has_come_{false};
};

/// Returns the command line that leads to the same device and the same cases.
std::vector<std::string> arguments_of(const RunOptions& options) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  const bool is_endpoint = !options.device.has_agent() && !options.device.has_server();
  add("--profile", is_endpoint ? options.device.profile : "");
  add("--recovery", options.device.recovery);
  add("-i", options.device.interface);
  add("--agent", options.device.agent);
  add("--token-file", options.device.token_file);
  const ServerChoice& server = options.device.server;
  add("--server", server.program);
  add("--host", server.host);
  add("--server-port", server.port != 0 ? std::to_string(server.port) : "");
  add("--server-command", server.command);
  add("--device", options.profile_of_device);
  if (options.may_stop) arguments.emplace_back("--may-stop");
  if (options.device.to_others) arguments.emplace_back("--to-others");
  std::ranges::copy(options.selection.paths, std::back_inserter(arguments));
  return arguments;
}

Tested tested_by(const RunOptions& options, const Device& device, const std::optional<DeviceProfile>& profile) {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.program = ROCE_VERSION,
          .started_ns = std::chrono::duration_cast<nanoseconds>(now).count(),
          .device = device.text,
          .link = device.link,
          .kind_of_device = profile ? profile->device : "",
          .seed = options.seed,
          .only = options.selection.only,
          .quick = options.selection.quick,
          .arguments = arguments_of(options)};
}

DeviceChoice device_choice(const RunOptions& options) {
  DeviceChoice choice = options.device;
  choice.server.patience = Duration{static_cast<Duration::rep>(read_time(options.server_time).value_or(0))};
  return choice;
}

ExitCode run(const RunOptions& options) {
  if (const auto separate = check_files(options.report, ""); !separate) return report_failure(separate.error());
  const Outcome<std::optional<RunResult>> earlier = load_earlier(options.report);
  if (!earlier) return report_failure(earlier.error());
  Outcome<std::optional<page::PageFile>> page = page::open_report(options.report.page);
  if (!page) return report_failure(page.error());
  const Outcome<LoadedCases> loaded = load(options.selection);
  if (!loaded) return report_failure(loaded.error());
  const Outcome<std::optional<DeviceProfile>> known = load_profile(options, *loaded);
  if (!known) return report_failure(known.error());
  const std::optional<DeviceProfile>& profile = *known;
  Outcome<Device> device = open_device(device_choice(options));
  if (!device) return report_failure(device.error());
  Tested tested = tested_by(options, *device, profile);
  set_up(*device, options, profile, tested.noise);
  Interruption interruption;
  device->suite.is_interrupted = [&interruption] { return interruption.has_come(); };
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  std::size_t count = 0;
  const auto progress = [&](std::size_t instance) {
    ++count;
    if (!shows_progress) return;
    text::show_live_line(
        fmt::format("{} of {}: {}", count, loaded->instances.size(), loaded->instances[instance].name()));
  };
  std::vector<CaseOutcome> outcomes = run_suite(loaded->instances, device->factories, device->suite, progress);
  if (shows_progress) text::end_live_line();
  if (profile) mark_known_deviations(*profile, loaded->instances, outcomes);
  const RunResult result =
      make_result(std::move(tested), loaded->instances, std::move(outcomes), options.report.frames);
  if (const auto reported = make_reports(options.report, result, *earlier, *page); !reported) {
    return report_failure(reported.error());
  }
  return exit_code(options, result);
}

/// Adds the options of a device that is tested through a server program.
void add_server_options(command_line::Command& command, const std::shared_ptr<RunOptions>& options) {
  ServerChoice& server = options->device.server;
  command_line::Option program =
      command
          .add_option("--server", server.program,
                      "Program that the device runs anyway, instead of an agent: what the wire does not show is not "
                      "judged")
          .type_name("PROGRAM")
          .excludes("--agent")
          .excludes("--profile");
  const command_line::Option host =
      command.add_option("--host", server.host, "Address of the device, and of its server program")
          .type_name("HOST")
          .needs(program);
  program.needs(host);
  command.add_option("--server-port", server.port, "TCP port of the server (default: the program's)")
      .range(1, 65535)
      .needs(program);
  command
      .add_option("--server-command", server.command,
                  "Run this by the shell for each instance to start the server, and end it afterwards")
      .type_name("COMMAND")
      .needs(program);
  command
      .add_option("--server-time", options->server_time,
                  "Give up a server that is not there or does not answer after this time")
      .type_name("TIME")
      .check(find_mistake_of_time)
      .capture_default_str();
}

/// Adds the options that say what the device is, and how to come to verdicts on a wire.
void add_device_options(command_line::Command& command, const std::shared_ptr<RunOptions>& options) {
  command.add_option("-i,--interface", options->device.interface, "Interface that the device is reached through")
      .type_name("IF");
  const command_line::Option agent =
      command
          .add_option(
              "--agent", options->device.agent,
              "Program beside the device: roce-gen peer or roce-agent, by the path of its control socket (with a "
              "/) or HOST:PORT")
          .type_name("AGENT");
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
  command.add_option("--token-file", options->device.token_file, "File with the secret of an agent on TCP")
      .type_name("FILE");
  add_server_options(command, options);
  command.add_flag("--to-others", options->device.to_others,
                   "Let cases send frames to other addresses than the device's: for a network of its own");
  command
      .add_option(
          "--probes", options->probes,
          "On a wire: measure round trip, loss, duplication and reordering by this many WRITEs first; 0: do not")
      .type_name("N")
      .range(0U, kMostProbes)
      .capture_default_str();
  command
      .add_option("--tries", options->tries,
                  "On a wire: run an instance at most this often until its verdict stands (default: 3; 16 if frames "
                  "are lost)")
      .type_name("N")
      .range(1U, kMostTries);
  add_recovery_options(command, options->recovery, agent);
}

}  // namespace

void add_run(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("run", "Run cases against a device and judge it");
  const auto options = std::make_shared<RunOptions>();
  add_selection(command, options->selection);
  add_device_options(command, options);
  command
      .add_option("--device", options->profile_of_device,
                  "Profile of the kind of device: its times, and its known deviations, which do not fail the run")
      .type_name("FILE");
  command.add_flag("--may-stop", options->may_stop, "Run also what may stop the device, by its profile");
  command.add_option("--seed", options->seed, "Seed of all random choices").capture_default_str();
  command
      .add_option("-j,--jobs", options->device.jobs,
                  "Instances that run at the same time (default: one a processor; 16 on a wire)")
      .range(1U, kMostJobsOnLink);
  command.add_flag("--strict", options->strict, "Let deviations of level should count as failures");
  command.add_option("--json", options->report.json, "Write all results to a file").type_name("FILE");
  add_report_options(command, options->report);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run(*options); });
}

}  // namespace roce::conform
