// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"
#include "runtime/note.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/counted.h"
#include "command_line/ending.h"
#include "command_line/program.h"
#include "files/file_use.h"
#include "gen/relay/relay.h"
#include "gen/relay/relay_recorder.h"
#include "gen/relay/relay_report.h"
#include "gen/relay/relay_rules.h"
#include "metrics/metrics_output.h"
#include "options/xdp_options.h"
#include "roce/link/raw_link.h"
#include "roce/link/xdp_link.h"
#include "roce/live/endpoint_options.h"
#include "roce/live/xdp_text.h"
#include "roce/port/interfaces.h"
#include "runtime/clock.h"
#include "runtime/stop_signal.h"

namespace roce::gen {

namespace {

// The kernel wakes us some tens of microseconds late, so the last part of each wait is spent polling.
constexpr Duration kWakeLate = std::chrono::microseconds{60};
// A link reports that it is full, but not when it has room again, so sending is retried after this time.
constexpr Duration kRetrySend = std::chrono::microseconds{100};
constexpr Duration kLiveInterval = std::chrono::seconds{1};

// Enough for a fast link delayed by one second; the defaults are sized for an endpoint.
constexpr impair::Limits kLimits{
    .held_packets = 1 << 17, .held_bytes = 256 << 20, .flows = 4096, .psns_per_flow = 1024};

// A capture filter that matches every frame: those other than RoCE have to pass too, and the kernel still gets them.
constexpr const char* kAllElse = "greater 0";

struct RelayOptions {
  RelayInterfaces interfaces;
  live::LinkChoice link = live::LinkChoice::raw;  ///< raw or xdp
  link::XdpLinkOptions::Mode xdp_mode = link::XdpLinkOptions::Mode::automatic;
  std::uint32_t xdp_queues = 0;
  std::string events;
  std::vector<std::string> rules;
  std::string log;
  std::string pcap;
  std::uint64_t seed = 1;
  bool json = false;
  metrics::MetricsOptions metrics;
};

struct OpenedLink {
  std::unique_ptr<link::Link> link;
  std::string description;
};

[[nodiscard]] Outcome<OpenedLink> open_xdp(const RelayOptions& options, const std::string& interface) {
  link::XdpLinkOptions xdp;
  xdp.interface = interface;
  xdp.mode = options.xdp_mode;
  xdp.queues = options.xdp_queues;
  xdp.mac_control = true;
  xdp.copies = kAllElse;
  xdp.promiscuous = true;
  link::LinkResult<std::unique_ptr<link::XdpLink>> opened = link::XdpLink::open(xdp);
  if (!opened) return cannot(opened.error().message);
  std::string description = live::describe_xdp((*opened)->setup(), interface);
  return OpenedLink{std::move(*opened), std::move(description)};
}

[[nodiscard]] Outcome<OpenedLink> open_link(const RelayOptions& options, const std::string& interface) {
  if (options.link == live::LinkChoice::xdp) return open_xdp(options, interface);
  link::LinkResult<std::unique_ptr<link::RawLink>> opened =
      link::RawLink::open({.interface = interface, .filter = {}, .promiscuous = true});
  if (opened) return OpenedLink{std::move(*opened), interface};
  if (!opened.error().no_permission) return cannot(opened.error().message);
  return cannot(
      fmt::format("cannot relay frames of {}: this needs CAP_NET_RAW; run it as root, or in a network "
                  "namespace of your own (unshare -rn)",
                  interface));
}

/// Fails unless both interfaces exist and they are two different ones.
[[nodiscard]] Outcome<void> check_interfaces(const RelayInterfaces& names) {
  std::array<std::uint32_t, 2> indexes{};
  for (std::size_t side = 0; side < names.size(); ++side) {
    const port::Result<port::Interface> found = port::find_interface(names[side]);
    if (!found) return cannot(found.error().message);
    indexes[side] = found->index;
  }
  if (indexes[0] != indexes[1]) return {};
  return cannot(fmt::format("-i and -o are both {}; a relay goes between two interfaces", names[0]));
}

/// The relay on its two interfaces, with its log, its capture file, its metrics and its live display.
class RelayRun {
 public:
  [[nodiscard]] static Outcome<std::unique_ptr<RelayRun>> open(const RelayOptions& options);

  /// Relays until a signal comes. Failure: an interface is gone.
  [[nodiscard]] Outcome<void> run();
  /// Ends the files and prints the totals. Failure: a file could not be written.
  [[nodiscard]] Outcome<void> finish();

 private:
  explicit RelayRun(const RelayOptions& options) : options_(options) {}
  [[nodiscard]] Outcome<void> wait(Time time, Time until);
  void show_live(Time time);
  [[nodiscard]] std::array<RelayCounters, 2> counters() const {
    return {relay_->counters(impair::Direction::a_to_b), relay_->counters(impair::Direction::b_to_a)};
  }

  const RelayOptions& options_;
  runtime::StopSignal signal_;
  std::array<std::unique_ptr<link::Link>, 2> links_;
  std::array<std::string, 2> descriptions_;
  std::optional<Relay> relay_;
  std::optional<RelayLog> log_;
  std::optional<RelayRecorder> recorder_;
  std::unique_ptr<metrics::MetricsOutput> metrics_;
  bool stopped_ = false;
  Time began_ = runtime::now();
  bool is_live_ = false;
  Time shown_at_ = began_;
  std::array<RelayCounters, 2> shown_{};
};

Outcome<std::unique_ptr<RelayRun>> RelayRun::open(const RelayOptions& options) {
  Outcome<impair::RuleSet> rules = load_rules(options.events, options.rules);
  if (!rules) return tl::unexpected(rules.error());
  const std::array read{files::FileUse{"--events", options.events}};
  const std::array written{files::FileUse{"--log", options.log}, files::FileUse{"--pcap", options.pcap},
                           files::FileUse{"--metrics-file", options.metrics.file}};
  if (const auto conflict = files::find_conflict(read, written)) return cannot(*conflict);
  std::unique_ptr<RelayRun> run{new RelayRun{options}};
  if (options.link != live::LinkChoice::xdp &&
      (options.xdp_queues != 0 || options.xdp_mode != link::XdpLinkOptions::Mode::automatic)) {
    return cannot("--xdp-mode and --xdp-queues are for --link xdp; add that, or leave them out");
  }
  if (const Outcome<void> checked = check_interfaces(options.interfaces); !checked) {
    return tl::unexpected(checked.error());
  }
  for (std::size_t side = 0; side < run->links_.size(); ++side) {
    Outcome<OpenedLink> opened = open_link(options, options.interfaces[side]);
    if (!opened) return tl::unexpected(opened.error());
    run->links_[side] = std::move(opened->link);
    run->descriptions_[side] = std::move(opened->description);
  }
  const auto& [a, b] = run->links_;
  run->relay_.emplace(*a, *b, impair::Engine{std::move(*rules), options.seed, kLimits});
  if (!options.log.empty()) {
    Outcome<RelayLog> log = RelayLog::create(options.log);
    if (!log) return tl::unexpected(log.error());
    run->log_.emplace(std::move(*log));
    run->relay_->set_log(
        [&run = *run](const impair::LogRecord& record) { run.log_->write(record, run.relay_->engine().rules()); });
  }
  if (!options.pcap.empty()) {
    Outcome<RelayRecorder> recorder = RelayRecorder::create(options.pcap, options.interfaces);
    if (!recorder) return tl::unexpected(recorder.error());
    run->recorder_.emplace(std::move(*recorder));
    run->relay_->set_tap([&run = *run](std::size_t side, bool sent, Bytes frame, std::int64_t timestamp_ns) {
      run.recorder_->record(side, sent, frame, timestamp_ns);
    });
  }
  if (a->max_bytes() != b->max_bytes()) {
    const std::size_t longer = a->max_bytes() > b->max_bytes() ? 0 : 1;
    runtime::print_note(
        "warning",
        fmt::format("the MTU of {} is larger than that of {}: what {} does not carry is lost (ip link set {} mtu)",
                    options.interfaces[longer], options.interfaces[1 - longer], options.interfaces[1 - longer],
                    options.interfaces[1 - longer]),
        options.json);
  }
  if (!options.metrics.address.empty() || !options.metrics.file.empty()) {
    Outcome<std::unique_ptr<metrics::MetricsOutput>> metrics = metrics::MetricsOutput::open(
        options.metrics, [&run = *run] { return relay_metrics(run.options_.interfaces, *run.relay_); }, options.json);
    if (!metrics) return tl::unexpected(metrics.error());
    run->metrics_ = std::move(*metrics);
  }
  run->is_live_ = !options.json && ::isatty(STDERR_FILENO) != 0;
  return run;
}

Outcome<void> RelayRun::run() {
  runtime::print_note(
      "ready",
      fmt::format("relaying between {} and {}, {}, seed {}", descriptions_[0], descriptions_[1],
                  command_line::counted(relay_->engine().rules().rules().size(), "rule", "rules"), options_.seed),
      options_.json);
  began_ = shown_at_ = runtime::now();
  Time look_at = began_;
  while (!stopped_) {
    const Time time = runtime::now();
    const link::LinkResult<bool> moved = relay_->turn(time);
    if (!moved) return failed(moved.error().message);
    if (*moved && time - look_at < kLiveInterval / 100) continue;
    look_at = time;
    if (is_live_ && time - shown_at_ >= kLiveInterval) show_live(time);
    Time until = *moved ? time : relay_->next_timeout();
    if (relay_->wants_to_write()) until = std::min(until, time + kRetrySend);
    if (is_live_) until = std::min(until, shown_at_ + kLiveInterval);
    if (Outcome<void> waited = wait(time, until); !waited) return waited;
  }
  return {};
}

Outcome<void> RelayRun::wait(Time time, Time until) {
  // ppoll ignores an entry whose file descriptor is -1.
  std::array<pollfd, 4> set{{{signal_.fd(), POLLIN, 0},
                             {links_[0]->fd(), POLLIN, 0},
                             {links_[1]->fd(), POLLIN, 0},
                             {metrics_ != nullptr ? metrics_->fd() : -1, POLLIN, 0}}};
  timespec timeout{};
  if (until != kNever && until - time > kWakeLate) {
    if (log_) log_->flush();
    const auto left = (until - time - kWakeLate).count();
    timeout.tv_sec = static_cast<time_t>(left / 1'000'000'000);
    timeout.tv_nsec = static_cast<long>(left % 1'000'000'000);
  } else if (until == kNever && log_) {
    log_->flush();
  }
  if (::ppoll(set.data(), set.size(), until != kNever ? &timeout : nullptr, nullptr) <= 0) return {};
  stopped_ = set[0].revents != 0 && signal_.take();
  if (set[3].revents != 0) metrics_->serve();
  for (std::size_t side = 0; side < links_.size(); ++side) {
    if ((set[side + 1].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0) continue;
    if (const link::LinkResult<void> alive = links_[side]->check(); !alive) return failed(alive.error().message);
  }
  return {};
}

void RelayRun::show_live(Time time) {
  const std::array<RelayCounters, 2> current = counters();
  fmt::print(stderr, "\r\033[K{}", relay_live_line(options_.interfaces, current, shown_, time - shown_at_));
  std::fflush(stderr);
  shown_ = current;
  shown_at_ = time;
}

Outcome<void> RelayRun::finish() {
  if (is_live_) fmt::print(stderr, "\r\033[K");
  const Duration duration = runtime::now() - began_;
  Outcome<void> ended;
  if (log_) ended = log_->close();
  if (recorder_) {
    if (Outcome<void> closed = recorder_->close(); !closed && ended) ended = std::move(closed);
  }
  if (metrics_ != nullptr) {
    if (Outcome<void> written = metrics_->write_file(); !written && ended) ended = std::move(written);
  }
  // After the files, which have to be complete even if standard output fails.
  print_relay_totals(options_.interfaces, *relay_, duration, options_.json);
  return ended;
}

[[nodiscard]] Outcome<ExitCode> run(const RelayOptions& options) {
  const Outcome<std::unique_ptr<RelayRun>> relay = RelayRun::open(options);
  if (!relay) return tl::unexpected(relay.error());
  const Outcome<void> ran = (*relay)->run();
  const Outcome<void> finished = (*relay)->finish();
  if (!ran) return tl::unexpected(ran.error());
  if (!finished) return tl::unexpected(finished.error());
  return ExitCode::ok;
}

}  // namespace

void add_relay(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("relay", "Pass frames between two interfaces, with faults on purpose");
  auto options = std::make_shared<RelayOptions>();
  command.add_option("-i,--in", options->interfaces[0], "Interface a").required().type_name("IFACE");
  command.add_option("-o,--out", options->interfaces[1], "Interface b").required().type_name("IFACE");
  command
      .add_choice("--link", options->link, {{"raw", live::LinkChoice::raw}, {"xdp", live::LinkChoice::xdp}},
                  "How frames go: raw (packet sockets, need CAP_NET_RAW), or xdp (AF_XDP for RoCE, packet sockets for "
                  "all else; needs root of the host)",
                  command_line::LetterCase::ignored)
      .default_str("raw")
      .type_name("KIND");
  options::add_xdp_options(command, options->xdp_mode, options->xdp_queues);
  command.add_option("-e,--event", options->rules, "A rule (docs/impair.md); may be repeated")
      .type_name("RULE")
      .allow_extra_args(false);
  command.add_option("--events", options->events, "File of rules, one a line, or JSON (*.json); before those of -e")
      .type_name("FILE");
  command.add_option("--log", options->log, "Write each action of a rule as a line of JSON").type_name("FILE");
  command.add_option("--pcap", options->pcap, "Write each frame that comes in or goes out to a capture file (pcapng)")
      .type_name("FILE");
  command.add_option("--seed", options->seed, "Of the random numbers of the rules: the same seed, the same choices")
      .capture_default_str();
  command.add_flag("--json", options->json, "Print JSON, one object a line");
  metrics::add_metrics_options(command, options->metrics);
  command.footer(
      "Every frame passes, both ways and in order, unless a rule says otherwise. Ends with SIGINT or SIGTERM.\n"
      "Examples:\n"
      "  roce-gen relay -i eth1 -o eth2                                    a wire\n"
      "  roce-gen relay -i eth1 -o eth2 -e drop:probability=0.02           that loses 2 % of the RoCE packets\n"
      "  roce-gen relay -i eth1 -o eth2 -e 'drop:dir=a_to_b,op=write_last,tx=1,count=1' --log actions.jsonl\n"
      "  roce-gen relay -i eth1 -o eth2 -e delay:any_frame=true,by=1ms     1 ms longer, each way\n"
      "Exit code: 0 stopped by a signal, 1 an interface went away or a file could not be written, 2 wrong command "
      "line\n"
      "or no such interface.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
