// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/exchange/exchange_command.h"
#include "gen/frames/frame_addresses.h"
#include "gen/frames/frame_command.h"
#include "gen/frames/pause_packets.h"
#include "roce/port/link_speed.h"
#include "roce/port/port.h"
#include "runtime/rate.h"

namespace roce::gen {

namespace {

/// Refreshes within the shortest pause: enough that a late one does not let the wire resume.
constexpr Duration::rep kRefreshes = 3;

constexpr const char* kPfcFooter =
    R"(Quanta are 512 bit times of the wire; a value or a rule as in roce-gen craft (0..65535+5000 sweeps), 0 resumes.
Examples:
  roce-gen pfc -w one.pcap -p 3                                one frame: priority 3 stops for 65535 quanta
  roce-gen pfc -w vector.pcap -p 3=100,4=0                     stops 3 for 100 quanta and resumes 4
  roce-gen pfc -w sweep.pcap -p all -q 0..65535+4369 -n 16     a sweep
  roce-gen pfc -w burst.pcap -p 3 -q 50 -n 64 --rate 1kpps --burst 8
  roce-gen pfc -w storm.pcap -p 3 --storm -D 0.1 --speed 25Gbit
  roce-gen pfc -i eth0 -p 3 --storm                            holds priority 3 until Ctrl-C, then resumes it
  roce-gen pfc -i eth0 -p 3 --storm --duty 10ms/90ms -D 60     held for 10 of every 100 ms
Exit code: 0 all was sent, 1 some was not, 2 wrong command line or no such interface.)";

constexpr const char* kPauseFooter =
    R"(Quanta are 512 bit times of the wire; a value or a rule as in roce-gen craft (0..65535+5000 sweeps), 0 resumes.
Examples:
  roce-gen pause -w one.pcap                                   one frame: everything stops for 65535 quanta
  roce-gen pause -w sweep.pcap -q 1/10/100/1000 -n 4           a sweep
  roce-gen pause -w storm.pcap --storm -D 0.1 --speed 10Gbit
  roce-gen pause -i eth0 --storm --duty 1s/1s                  stops the wire every other second until Ctrl-C
Exit code: 0 all was sent, 1 some was not, 2 wrong command line or no such interface.)";

struct PauseOptions {
  FrameOptions frames;
  bool pfc = true;
  std::string priorities;
  std::string quanta = "65535";
  std::string source;
  std::string speed;
  bool storm = false;
  bool no_resume = false;
};

[[nodiscard]] Outcome<std::uint64_t> wire_speed(const PauseOptions& options) {
  constexpr std::uint64_t slowest = 1000;
  constexpr std::uint64_t fastest = 10'000'000'000'000;
  if (!options.speed.empty()) {
    const Outcome<runtime::Rate> rate = runtime::parse_rate(options.speed);
    if (!rate) return tl::unexpected(rate.error());
    if (rate->bps >= slowest && rate->bps <= fastest) return rate->bps;
    return cannot(fmt::format("--speed: expected 1kbit … 10000Gbit, found \"{}\"", options.speed));
  }
  const std::optional<std::uint64_t> told =
      options.frames.interface.empty() ? std::nullopt : port::link_speed_bps(options.frames.interface);
  return told.value_or(port::Port::kUsualSpeed);
}

/// Returns the notes for the report: whether the pauses left gaps, and that their effect cannot be seen from here.
[[nodiscard]] std::vector<std::string> remarks(const PauseOptions& options, const FrameResult& result,
                                               std::optional<Duration> pause, std::uint64_t speed) {
  std::vector<std::string> lines;
  if (options.storm && pause) {
    const double us = std::chrono::duration<double, std::micro>(*pause).count();
    const double gap = std::chrono::duration<double, std::micro>(result.totals.longest_gap).count();
    lines.push_back(fmt::format(
        "each frame pauses for {:.1f} us at {} Gbit/s; the longest time between two was {:.1f} us: {}", us,
        static_cast<double>(speed) * 1e-9, gap, result.totals.longest_gap < *pause ? "no gap" : "with gaps"));
  }
  if (options.frames.file.empty()) {
    lines.emplace_back(
        "whether they had an effect cannot be seen from here: many NICs take MAC control frames off or refuse to send "
        "them, and no bridge passes them on; look at the receiver's pause counters (ethtool -S), or capture there");
  }
  return lines;
}

[[nodiscard]] Outcome<ExitCode> run(const PauseOptions& options) {
  PauseWish wish{options.pfc, {}, options.quanta, options.source};
  if (options.pfc) {
    auto quanta = read_priorities(options.priorities, options.quanta);
    if (!quanta) return tl::unexpected(quanta.error());
    wish.quanta = std::move(*quanta);
  }
  Outcome<VaryingPacket> pausing = pause_packet(wish);
  if (!pausing) return tl::unexpected(pausing.error());
  Outcome<VaryingPacket> resuming = resume_packet(wish);
  if (!resuming) return tl::unexpected(resuming.error());
  const Outcome<std::uint64_t> speed = wire_speed(options);
  if (!speed) return tl::unexpected(speed.error());
  const std::optional<Duration> pause = shortest_pause(*pausing, *speed);

  FrameJob job;
  job.packets.push_back(std::move(*pausing));
  FrameOptions frames = options.frames;
  if (options.storm) {
    if (!pause) return cannot("--storm holds the wire, and quanta of 0 do not; give -q");
    if (!frames.rate.empty()) return cannot("--storm has the rate that the quanta ask for; leave out --rate");
    if (!frames.count && frames.seconds == 0) frames.count = 0;
  }
  if (Outcome<void> read = read_schedule(frames, job); !read) return tl::unexpected(read.error());
  if (options.storm) {
    const Duration refresh = std::max(*pause / kRefreshes, Duration{1});
    job.schedule.rate = {.bps = 0, .pps = static_cast<std::uint64_t>(std::chrono::seconds{1} / refresh) + 1};
    if (!options.no_resume) job.closing.push_back(std::move(*resuming));
  }
  Outcome<FrameTarget> target = FrameTarget::open(frames);
  if (!target) return tl::unexpected(target.error());
  if (target->interface()) {
    for (std::vector<VaryingPacket>* packets : {&job.packets, &job.closing}) {
      if (Outcome<void> filled = fill_addresses(*packets, *target->interface(), ""); !filled) {
        return tl::unexpected(filled.error());
      }
    }
  }
  const Outcome<FrameResult> result = run_frames(*target, frames, job);
  if (!result) return tl::unexpected(result.error());
  nlohmann::ordered_json facts{{"bits_per_second", *speed}, {"effect_confirmed", false}};
  if (pause) facts["shortest_pause_seconds"] = std::chrono::duration<double>(*pause).count();
  if (options.storm) facts["gapless"] = result->totals.longest_gap < *pause;
  print_frames(options.pfc ? "pfc" : "pause", frames, *result, facts, remarks(options, *result, pause, *speed));
  return ended(frames, *result);
}

void add(command_line::Program& program, ExitCode& code, bool pfc) {
  command_line::Command command =
      pfc ? program.add_subcommand("pfc", "Stop and resume priorities of a wire (IEEE 802.1Qbb)")
          : program.add_subcommand("pause", "Stop and resume a wire (IEEE 802.3x)");
  auto options = std::make_shared<PauseOptions>();
  options->pfc = pfc;
  if (pfc) {
    command
        .add_option("-p,--priorities", options->priorities, "Which: 3, 0-2, all; with quanta of their own: 3=100,4=0")
        .required()
        .type_name("LIST");
  }
  command.add_option("-q,--quanta", options->quanta, "For how long: a number of 0 … 65535, or a rule")
      .type_name("QUANTA")
      .capture_default_str();
  command.add_flag("--storm", options->storm, "Repeat before the pause ends, until Ctrl-C or -D, then resume");
  command.add_flag("--no-resume", options->no_resume, "Do not resume at the end of a storm or before its pauses");
  command.add_option("--speed", options->speed, "Of the wire: 25Gbit (default: what the driver tells, else 10Gbit)")
      .type_name("RATE");
  command.add_option("--source", options->source, "Ethernet address of the sender (default: the interface's)")
      .type_name("MAC");
  add_frame_options(command, options->frames);
  command.footer(pfc ? kPfcFooter : kPauseFooter);
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace

void add_pause(command_line::Program& program, ExitCode& code) {
  add(program, code, true);
  add(program, code, false);
}

}  // namespace roce::gen
