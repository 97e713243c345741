// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "conform/commands/reporting.h"
#include "conform/commands/selection.h"
#include "conform/language/device_profile.h"
#include "conform/report/run_result.h"
#include "conform/report/tally.h"
#include "conform/run/known_deviations.h"
#include "conform/run/suite.h"
#include "conform/target/link_device.h"
#include "conform/target/link_target.h"
#include "conform/target/memory_target.h"
#include "roce/link/port_holder.h"
#include "roce/live/control_target.h"
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

// Instances mostly wait for the device. An agent serves 64 clients.
constexpr std::uint32_t kJobsOnLink = 16;
constexpr std::uint32_t kMostJobsOnLink = 64;
constexpr Timing kTimingOnLink{.answer = std::chrono::seconds{1},
                               .quiet = std::chrono::milliseconds{10},
                               .early = std::chrono::milliseconds{1},
                               .late = std::chrono::milliseconds{50}};

struct RunOptions {
  Selection selection;
  std::string profile = "strict";
  std::uint64_t seed = 1;
  std::uint32_t jobs = 0;  // 0: as many as the device can use
  std::string agent;
  std::string interface;
  std::string token_file;
  bool to_others = false;
  std::string profile_of_device;
  bool may_stop = false;
  bool strict = false;
  ReportOptions report;
};

ExitCode exit_code(const RunOptions& options, const RunResult& result) {
  const Tally all = count_all(result);
  if (all.wrong != 0) return ExitCode::usage;
  return all.failed + all.surprising + all.lost != 0 || (options.strict && all.deviating != 0) ? ExitCode::failed
                                                                                               : ExitCode::ok;
}

/// The device under test: what makes a target of it for each thread, and how long it may take.
struct Device {
  std::string text{};
  std::string link{};
  std::vector<std::unique_ptr<LinkDevice>> opened{};
  std::unique_ptr<link::PortHolder> port_holder{};
  std::vector<TargetFactory> factories{};
  SuiteOptions suite{};
};

Device endpoint_in_memory(const RunOptions& options) {
  const std::uint32_t jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  const transport::Profile profile = transport::profile_of(options.profile);
  Device device{.text = "endpoint, profile " + options.profile, .link = "memory"};
  device.factories.assign(jobs,
                          [profile](std::uint64_t seed) { return std::make_unique<MemoryTarget>(profile, seed); });
  device.suite.seed = options.seed;
  return device;
}

Outcome<Device> device_on_link(const RunOptions& options) {
  const live::Result<live::ControlAddress> address = live::control_target(options.agent, options.token_file);
  if (!address) return cannot(address.error().message);
  Device device;
  // The kernel of this host would answer the device's packets with ICMP.
  device.port_holder = std::make_unique<link::PortHolder>();
  const std::uint32_t jobs = options.jobs != 0 ? options.jobs : kJobsOnLink;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    auto opened = LinkDevice::open(
        {.interface = options.interface, .agent = *address, .number = i, .to_others = options.to_others});
    if (!opened) return cannot(opened.error().message);
    device.factories.push_back([way = opened->get()](std::uint64_t) { return std::make_unique<LinkTarget>(*way); });
    device.opened.push_back(std::move(*opened));
  }
  device.text = fmt::format("{} through {}", to_string(device.opened.front()->port().device_gid), options.interface);
  device.link = fmt::format("interface {}, agent {}", options.interface, options.agent);
  device.suite = {.seed = options.seed, .timing = kTimingOnLink, .shares_counters = true, .repeats_alone = true};
  return device;
}

Outcome<Device> open_device(const RunOptions& options) {
  if (options.agent.empty() && options.interface.empty()) return endpoint_in_memory(options);
  if (options.agent.empty() || options.interface.empty()) {
    return cannot("a device on a wire needs both --interface, the way to it, and --agent, the program beside it");
  }
  return device_on_link(options);
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

/// Returns the command line that leads to the same device and the same cases.
std::vector<std::string> arguments_of(const RunOptions& options) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(option);
    arguments.push_back(value);
  };
  const bool is_endpoint = options.agent.empty();
  add("--profile", is_endpoint ? options.profile : "");
  add("-i", options.interface);
  add("--agent", options.agent);
  add("--token-file", options.token_file);
  add("--device", options.profile_of_device);
  if (options.may_stop) arguments.emplace_back("--may-stop");
  if (options.to_others) arguments.emplace_back("--to-others");
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

ExitCode run(const RunOptions& options) {
  if (const auto separate = check_files(options.report, ""); !separate) return report_failure(separate.error());
  const Outcome<std::optional<RunResult>> earlier = load_earlier(options.report);
  if (!earlier) return report_failure(earlier.error());
  const Outcome<LoadedCases> loaded = load(options.selection);
  if (!loaded) return report_failure(loaded.error());
  const Outcome<std::optional<DeviceProfile>> known = load_profile(options, *loaded);
  if (!known) return report_failure(known.error());
  const std::optional<DeviceProfile>& profile = *known;
  Outcome<Device> device = open_device(options);
  if (!device) return report_failure(device.error());
  if (profile) set_times(device->suite.timing, *profile);
  if (profile && !options.may_stop) device->suite.may_stop = profile->may_stop;
  Tested tested = tested_by(options, *device, profile);
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
  if (const auto reported = make_reports(options.report, result, *earlier); !reported) {
    return report_failure(reported.error());
  }
  return exit_code(options, result);
}

}  // namespace

void add_run(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("run", "Run cases against a device and judge it");
  const auto options = std::make_shared<RunOptions>();
  add_selection(command, options->selection);
  command.add_option("-i,--interface", options->interface, "Interface that the device is reached through")
      .type_name("IF");
  command
      .add_option("--agent", options->agent,
                  "Program beside the device: roce-gen peer or roce-agent, by the path of its control socket (with a "
                  "/) or HOST:PORT")
      .type_name("AGENT");
  command.add_option("--profile", options->profile, "Behaviour of our endpoint, if that is the device under test")
      .one_of({"strict", "rxe", "hardware_like"})
      .capture_default_str()
      .excludes("--agent");
  command.add_option("--token-file", options->token_file, "File with the secret of an agent on TCP").type_name("FILE");
  command
      .add_option("--device", options->profile_of_device,
                  "Profile of the kind of device: its times, and its known deviations, which do not fail the run")
      .type_name("FILE");
  command.add_flag("--may-stop", options->may_stop, "Run also what may stop the device, by its profile");
  command.add_flag("--to-others", options->to_others,
                   "Let cases send frames to other addresses than the device's: for a network of its own");
  command.add_option("--seed", options->seed, "Seed of all random choices").capture_default_str();
  command
      .add_option("-j,--jobs", options->jobs,
                  "Instances that run at the same time (default: one a processor; 16 on a wire)")
      .range(1U, kMostJobsOnLink);
  command.add_flag("--strict", options->strict, "Let deviations of level should count as failures");
  command.add_option("--json", options->report.json, "Write all results to a file").type_name("FILE");
  add_report_options(command, options->report);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run(*options); });
}

}  // namespace roce::conform
