// SPDX-License-Identifier: BSD-2-Clause
#include "replay/commands/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "command_line/ending.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "replay/send/send_file.h"
#include "replay/send/send_links.h"
#include "replay/send/send_loop.h"
#include "replay/send/send_options.h"
#include "replay/send/send_report.h"
#include "replay/send/send_survey.h"
#include "replay/send/start_time.h"
#include "replay/survey/capture_surveys.h"
#include "runtime/clock.h"
#include "runtime/note.h"
#include "text/live_line.h"

namespace roce::replay {

namespace {

constexpr const char* kFooter =
    R"(Examples:
  roce-replay send trace.pcap -i eth0
  roce-replay send trace.pcap -i eth0 --rate 2.5Gbit --loops 10
  roce-replay send trace.pcap -i eth0 --topspeed --link xdp
  roce-replay send trace.pcap -i eth0 --link udp --ip-map 10.77.0.2=192.0.2.2 --ip-map 10.77.0.3=192.0.2.3 --skip-unfit
  roce-replay send trace.pcap -i eth0 -I eth1 --side-a 10.1.0.0/16
  roce-replay send trace.pcap -i eth0 -I eth1 --side-a clients
  roce-replay send trace.pcap -i eth0 --ip-map 10.77.0.0/24=192.0.2.0/24 --destination-mac 02:00:00:00:00:07
  roce-replay send trace.pcap -i eth0 -e drop:op=write_middle,probability=0.01 -e delay:nth=5,by=1ms
  roce-replay send first.pcap second.pcap -w merged.pcapng --speed 2
Exit code: 0 all was sent, or with --loops 0 all until Ctrl-C; 1 begun, and failed or stopped, or a file cannot be read;
2 wrong command line or environment, and nothing was sent.)";

[[nodiscard]] std::int64_t wall_clock() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The work that the options ask for, as far as it is known before anything is read.
struct Job {
  Pace pace{};
  IntakeOptions intake{};
};

[[nodiscard]] Outcome<Job> job_of(const SendOptions& options) {
  if (options.interface.empty() && options.write.empty() && !options.dry_run) {
    return cannot("where to? -i IFACE sends, -w FILE writes a capture file, --dry-run says what would be sent");
  }
  if (!options.side_a.empty() && options.other_interface.empty() && !options.dry_run) {
    return cannot("--side-a splits the frames over two interfaces: name the other with -I");
  }
  std::vector<files::FileUse> read;
  read.reserve(options.files.size());
  for (const std::string& file : options.files) read.push_back({"FILE", file});
  const std::array written{files::FileUse{"--write", options.dry_run ? "" : options.write}};
  if (const auto conflict = files::find_conflict(read, written)) return cannot(*conflict);
  if (!options.write.empty() && options.loops == 0) return cannot("a file needs an end: --loops of 1 and more");
  const Outcome<Pace> pace = pace_of(options);
  if (!pace) return tl::unexpected(pace.error());
  Job job{.pace = *pace};
  job.intake.files = options.files;
  if (!options.side_a.empty()) {
    Outcome<SideSplit> sides = SideSplit::make(options.side_a);
    if (!sides) return tl::unexpected(sides.error());
    job.intake.sides = std::move(*sides);
  }
  Outcome<std::optional<RewriteRules>> rules = rules_of(options);
  if (!rules) return tl::unexpected(rules.error());
  job.intake.rules = std::move(*rules);
  Outcome<impair::RuleSet> faults = read_faults(options.rewrite);
  if (!faults) return tl::unexpected(faults.error());
  job.intake.faults = std::move(*faults);
  for (const std::string& file : options.files) {
    if (file == "-" && options.stream)
      return cannot("--stream reads the captures twice, and standard input is there once");
  }
  return job;
}

/// Fails if a survey shows a reason not to send, before anything is sent.
[[nodiscard]] Outcome<void> check(const SendOptions& options, const Pace& pace, const Survey& found) {
  const std::string unfit = unfit_text(found);
  if (!unfit.empty() && !options.skip_unfit) {
    return cannot(fmt::format("nothing was sent: {} (--skip-unfit leaves them out)", unfit));
  }
  if (found.frames == 0) return cannot(fmt::format("{}: no frames to send", fmt::join(options.files, ", ")));
  if (found.roce == 0) {
    return cannot(fmt::format("{}: no RoCE among {} frames; roce-analyze decode shows what there is",
                              fmt::join(options.files, ", "), found.frames));
  }
  if (pace.kind == Pace::Kind::original && found.untimed != 0) {
    return cannot(fmt::format("{} frames have no time: --pps, --rate or --topspeed says when they go", found.untimed));
  }
  return {};
}

[[nodiscard]] Outcome<Survey> read_captures(const SendOptions& options, const Job& job, bool live) {
  SurveyOptions wanted;
  if (!options.stream) wanted.keep_bytes = options.memory_mib << 20U;
  bool is_pipe = false;
  for (const std::string& file : options.files) is_pipe = is_pipe || file == "-";
  wanted.must_keep = options.preload || is_pipe;
  wanted.learn_psns = options.loops != 1 && !options.keep_psn;
  if (live) wanted.progress = text::show_reading;
  Outcome<Survey> found = survey(job.intake, wanted);
  if (live) text::end_live_line();
  if (!found) return found;
  for (const std::string& warning : found->warnings) fmt::print(stderr, "roce-replay: {}\n", warning);
  if (Outcome<void> checked = check(options, job.pace, *found); !checked) return tl::unexpected(checked.error());
  return found;
}

[[nodiscard]] Outcome<std::unique_ptr<FrameFeed>> feed_of(const SendOptions& options, const Job& job, Survey& found) {
  const Plays plays{options.loops, found.period(), found.continuation.get()};
  if (!found.blocks.empty()) return feed_from_memory(std::move(found.blocks), plays);
  return feed_from_files(job.intake, plays);
}

[[nodiscard]] Outcome<ExitCode> send(const SendOptions& options, const Job& job, Survey& found, SendLinks& links,
                                     bool live) {
  Outcome<std::unique_ptr<FrameFeed>> feed = feed_of(options, job, found);
  if (!feed) return tl::unexpected(feed.error());
  Duration wait{0};
  if (!options.start_at.empty()) {
    const Outcome<Duration> until = time_until(options.start_at, wall_clock());
    if (!until) return tl::unexpected(until.error());
    wait = *until;
  }
  SendLoop loop{links.lines(), **feed, job.pace, live ? show_live : std::function<void(const SendTotals&)>{}};
  runtime::print_note("ready", fmt::format("sending by {}", links.description()), options.json);
  const Outcome<void> sent = loop.run(runtime::now() + wait);
  if (live) text::end_live_line();
  print_sent(options, found, loop.totals());
  if (!sent) {
    return failed(fmt::format("{} (sent before: {} frames)", sent.error().message, loop.totals().all_frames()));
  }
  if (const std::uint64_t refused = loop.totals().all_refused(); refused != 0) {
    return failed(
        fmt::format("{} frames were lost because the interface did not take them; a lower --rate helps where "
                    "its queue was full",
                    refused));
  }
  if (loop.totals().stopped && options.loops != 0) {
    return failed(
        fmt::format("stopped after {} of {} frames", loop.totals().all_frames(), found.frames * options.loops));
  }
  return ExitCode::ok;
}

[[nodiscard]] Outcome<ExitCode> run(const SendOptions& options) {
  Outcome<Job> job = job_of(options);
  if (!job) return tl::unexpected(job.error());
  const bool live = !options.json && ::isatty(STDERR_FILENO) != 0;
  std::optional<SendLinks> links;
  if (!options.interface.empty() && options.write.empty()) {
    Outcome<SendLinks> opened = SendLinks::open(options);
    if (!opened) return tl::unexpected(opened.error());
    links = std::move(*opened);
    std::size_t side = 0;
    job->intake.datagrams_from = links->addresses();
    for (const SendLine& line : links->lines()) job->intake.max_bytes[side++] = line.link->max_bytes();
  }
  // A start time that makes no sense is reported before a long file is read.
  if (!options.start_at.empty()) {
    if (const auto until = time_until(options.start_at, wall_clock()); !until) return tl::unexpected(until.error());
  }
  const ReadingProgress progress = live ? text::show_reading : ReadingProgress{};
  if (job->intake.sides && !job->intake.sides->ends().empty()) {
    Outcome<std::shared_ptr<const ConnectionSides>> sides =
        find_sides(options.files, job->intake.sides->ends(), progress);
    if (live) text::end_live_line();
    if (!sides) return tl::unexpected(sides.error());
    job->intake.sides->set_connections(std::move(*sides));
  }
  if (job->intake.rules && job->intake.rules->path_mtu != 0) {
    Outcome<std::shared_ptr<const SegmentPlan>> segments =
        plan_segments(options.files, job->intake.rules->path_mtu, progress);
    if (live) text::end_live_line();
    if (!segments) return tl::unexpected(segments.error());
    job->intake.segments = std::move(*segments);
    for (const LeftConnection& left : job->intake.segments->left) {
      fmt::print(stderr, "roce-replay: {}\n", text_of(left));
    }
  }
  Outcome<Survey> found = read_captures(options, *job, live);
  if (!found) return tl::unexpected(found.error());
  if (options.dry_run) {
    print_dry_run(options, *found, job->pace);
    return ExitCode::ok;
  }
  if (links) return send(options, *job, *found, *links, live);
  Outcome<std::unique_ptr<FrameFeed>> feed = feed_of(options, *job, *found);
  if (!feed) return tl::unexpected(feed.error());
  const Outcome<SendTotals> written = write_frames(**feed, job->pace, options.write, wall_clock());
  if (!written) return tl::unexpected(written.error());
  print_sent(options, *found, *written);
  return ExitCode::ok;
}

}  // namespace

void add_send(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("send", "Send a capture again: at its times, at a rate, or as fast as it goes");
  auto options = std::make_shared<SendOptions>();
  add_send_options(command, *options);
  command.footer(kFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-replay", run(*options)); });
}

}  // namespace roce::replay
