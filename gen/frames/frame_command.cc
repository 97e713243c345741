// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_command.h"
#include "runtime/note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command_line/counted.h"
#include "metrics/metrics_output.h"
#include "packet_text/verbose_format.h"
#include "roce/link/raw_link.h"
#include "roce/link/xdp_link.h"
#include "roce/live/link_metrics.h"
#include "roce/wire/icrc.h"
#include "runtime/rate.h"
#include "text/human_units.h"

namespace roce::gen {

namespace {

/// Returns 0 for a text that is not a duration. A number needs its unit here: in 10/90 the seconds would be a guess.
[[nodiscard]] Duration duration_with_unit(std::string_view text) {
  const bool has_unit = !text.empty() && (text.back() < '0' || text.back() > '9');
  return Duration{has_unit ? text::parse_duration(text).value_or(0) : 0};
}

[[nodiscard]] std::string rate_text(const SendTotals& totals) {
  const double seconds = std::chrono::duration<double>(totals.time).count();
  if (seconds <= 0) return "";
  return fmt::format(", {:.0f} frames/s, {:.3f} Gbit/s", static_cast<double>(totals.frames) / seconds,
                     static_cast<double>(totals.bytes) * 8e-9 / seconds);
}

[[nodiscard]] std::string segmentation_text(const SendTotals& totals) {
  if (totals.super_frames == 0 && totals.refusal.empty()) {
    return "no super-frames: one is made of RoCE v2 packets that may go at the same time, are equally long, and have "
           "the "
           "same headers in front of the BTH, but for ip.id=+1";
  }
  std::string text = fmt::format("{} super-frames, which the kernel cut", totals.super_frames);
  if (!totals.refusal.empty()) text += fmt::format("; all else went frame by frame: {}", totals.refusal);
  return text;
}

void show_live(const SendTotals& totals) {
  fmt::print(stderr, "\r\033[K{}{}", command_line::counted(totals.frames, "frame", "frames"), rate_text(totals));
  std::fflush(stderr);
}

/// Prints frames as `roce-analyze decode -v` does.
class Printer {
 public:
  void print(Bytes bytes) {
    packet_text::FrameInfo frame;
    frame.file = "craft";
    frame.number = ++number_;
    frame.length = frame.captured = static_cast<std::uint32_t>(bytes.size());
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    const IcrcVerdict icrc = check_icrc(packet);
    text_.clear();
    format_.append_packet(text_, {frame, packet, packet, icrc, 0});
    std::fwrite(text_.data(), 1, text_.size(), stdout);
  }

 private:
  packet_text::VerboseFormat format_{{.payload = true, .explain = false, .palette = {}}};
  text::TextBuffer text_;
  std::uint64_t number_ = 0;
};

[[nodiscard]] Outcome<FrameResult> print_plan(SendPlan plan) {
  FrameResult result;
  Printer printer;
  FrameFeed feed{std::move(plan), Time{}};
  for (Time time{}; time != kNever; time = feed.next_time(time)) {
    const SpecResult<std::optional<Bytes>> frame = feed.next(time);
    if (!frame) return failed(frame.error().message);
    if (!*frame) continue;
    printer.print(**frame);
    ++result.totals.frames;
    result.totals.bytes += (*frame)->size();
  }
  return result;
}

[[nodiscard]] std::optional<port::InterfaceTraffic> traffic_of(const port::Interface& interface) {
  const port::Result<port::InterfaceTraffic> traffic = port::interface_traffic(interface.index);
  return traffic ? std::optional{*traffic} : std::nullopt;
}

[[nodiscard]] bool has_metrics(const FrameOptions& options) {
  return !options.metrics.address.empty() || !options.metrics.file.empty();
}

[[nodiscard]] Outcome<FrameResult> send_plan(FrameTarget& target, const FrameOptions& options, SendPlan plan) {
  const bool live = !options.json && ::isatty(STDERR_FILENO) != 0;
  std::unique_ptr<metrics::MetricsOutput> metrics;
  if (has_metrics(options)) {
    Outcome<std::unique_ptr<metrics::MetricsOutput>> opened = metrics::MetricsOutput::open(
        options.metrics,
        [&] {
          live::Metrics values;
          live::append_metrics<link::LinkCounters>(values, live::link_counter_rows(),
                                                   {{{{"device", options.interface}}, target.link()->counters()}});
          return values;
        },
        options.json);
    if (!opened) return tl::unexpected(opened.error());
    metrics = std::move(*opened);
  }
  const auto before = traffic_of(*target.interface());
  FrameSender sender{*target.link(), std::move(plan), live ? show_live : std::function<void(const SendTotals&)>{}};
  if (metrics != nullptr) sender.watch(metrics->fd(), [&metrics] { metrics->serve(); });
  runtime::print_note("ready", fmt::format("sending on {}", target.description()), options.json);
  const Outcome<void> ran = sender.run();
  if (live) fmt::print(stderr, "\r\033[K");
  FrameResult result{sender.totals(), {}, {}};
  const auto after = traffic_of(*target.interface());
  if (before && after) {
    result.counted =
        port::InterfaceTraffic{after->sent_frames - before->sent_frames, after->sent_bytes - before->sent_bytes,
                               after->send_drops - before->send_drops};
  }
  if (!ran) result.failure = ran.error();
  if (metrics != nullptr) {
    if (const Outcome<void> written = metrics->write_file(); !written && !result.failure) {
      result.failure = written.error();
    }
  }
  return result;
}

}  // namespace

void add_frame_options(command_line::Command& command, FrameOptions& options) {
  command.add_option("-i,--interface", options.interface, "Interface to send on (needs CAP_NET_RAW)")
      .type_name("IFACE");
  command
      .add_choice(
          "--link", options.link, {{"raw", live::LinkChoice::raw}, {"xdp", live::LinkChoice::xdp}},
          "How frames go to the interface: raw (packet socket), or xdp (AF_XDP, faster; needs root of the host)",
          command_line::LetterCase::ignored)
      .default_str("raw")
      .type_name("KIND");
  command
      .add_option("-w,--write", options.file, "Write a capture file (pcapng, or *.pcap; - is standard output) instead")
      .type_name("FILE")
      .excludes("--interface");
  command.add_flag("--dry-run", options.dry_run, "Send nothing; print the packets as roce-analyze decode -v does");
  command.add_option("-n,--count", options.count, "Frames to send; 0: until Ctrl-C").type_name("N");
  command.add_option("-D,--duration", options.seconds, "Seconds to send").range(0.001, 1e6).type_name("SECONDS");
  command.add_option("--rate", options.rate, "Frames go at 100kpps or 2.5Gbit (whole frames without FCS)")
      .type_name("RATE");
  command.add_option("--burst", options.burst, "With --rate: so many frames go at once, and then a pause")
      .range(std::uint64_t{1}, std::uint64_t{1} << 32U)
      .type_name("N");
  command.add_option("--duty", options.duty, "Send for ON, pause for OFF, and so on: 10ms/90ms").type_name("ON/OFF");
  command.add_flag("--json", options.json, "Print JSON, one object a line");
  metrics::add_metrics_options(command, options.metrics);
}

Outcome<std::pair<Duration, Duration>> parse_duty(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string_view second = slash == std::string::npos ? "" : std::string_view{text}.substr(slash + 1);
  const Duration on = duration_with_unit(std::string_view{text}.substr(0, slash));
  const Duration off = duration_with_unit(second);
  if (on <= Duration{0} || off <= Duration{0}) {
    return cannot(fmt::format("--duty: expected two times such as 10ms/90ms (ns, us, ms, s), found \"{}\"", text));
  }
  return std::pair{on, off};
}

Outcome<FrameTarget> FrameTarget::open(const FrameOptions& options) {
  FrameTarget target;
  if (has_metrics(options) && (options.interface.empty() || options.dry_run)) {
    return cannot("--metrics and --metrics-file tell of what is sent: add -i, or leave them out");
  }
  if (options.link == live::LinkChoice::xdp && options.interface.empty()) {
    return cannot("--link says how frames go to an interface; add -i, or leave it out");
  }
  if (options.segmentation && (options.interface.empty() || options.link == live::LinkChoice::xdp)) {
    return cannot("--segmentation is done by the kernel behind a packet socket; it needs -i and --link raw");
  }
  if (options.interface.empty()) {
    if (options.file.empty() && !options.dry_run) {
      return cannot("where to? -i IFACE sends, -w FILE writes a capture file, --dry-run prints");
    }
    if (!options.to.empty()) return cannot("--to needs -i: the interface through which the address is found");
    return target;
  }
  const port::Result<port::Interface> interface = port::find_interface(options.interface);
  if (!interface) return cannot(interface.error().message);
  target.interface_ = *interface;
  if (options.dry_run) return target;
  if (const Outcome<void> opened = target.open_link(options); !opened) return tl::unexpected(opened.error());
  return target;
}

Outcome<void> FrameTarget::open_link(const FrameOptions& options) {
  description_ = options.interface;
  if (options.link == live::LinkChoice::xdp) {
    link::XdpLinkOptions xdp;
    xdp.interface = options.interface;
    xdp.sends_only = true;
    link::LinkResult<std::unique_ptr<link::XdpLink>> link = link::XdpLink::open(xdp);
    if (!link) return cannot(link.error().message);
    description_ += fmt::format(" by AF_XDP{}", (*link)->setup().zero_copy ? ", zero-copy" : "");
    link_ = std::move(*link);
    return {};
  }
  link::RawLinkOptions raw;
  raw.interface = options.interface;
  raw.sends_only = true;
  raw.segmentation = options.segmentation;
  link::LinkResult<std::unique_ptr<link::RawLink>> link = link::RawLink::open(raw);
  if (!link) return cannot(link.error().message);
  link_ = std::move(*link);
  return {};
}

Outcome<void> read_schedule(const FrameOptions& options, FrameJob& job) {
  if (!options.rate.empty()) {
    const Outcome<runtime::Rate> rate = runtime::parse_rate(options.rate);
    if (!rate) return tl::unexpected(rate.error());
    job.schedule.rate = *rate;
  }
  if (options.burst != 1 && options.rate.empty()) {
    return cannot("--burst says how many frames go at once, and --rate how many in all: give both");
  }
  job.schedule.burst = options.burst;
  if (!options.duty.empty()) {
    const Outcome<std::pair<Duration, Duration>> duty = parse_duty(options.duty);
    if (!duty) return tl::unexpected(duty.error());
    std::tie(job.schedule.on, job.schedule.off) = *duty;
  }
  job.duration = Duration{static_cast<Duration::rep>(options.seconds * 1e9)};
  if (options.count) job.count = *options.count;
  if (!options.count && options.seconds == 0) {
    for (const VaryingPacket& packet : job.packets) job.count += packet.repeat;
  }
  return {};
}

Outcome<FrameResult> run_frames(FrameTarget& target, const FrameOptions& options, const FrameJob& job) {
  // Super-frames are made of copies, and it is cheaper to copy one packet that is in the nearest cache than many.
  const bool is_copied = target.link() != nullptr && target.link()->segmentation().max_segments > 1;
  const std::size_t held = is_copied ? 1 : FrameSource::kHeld;
  SpecResult<FrameSource> frames = FrameSource::make(job.packets, options.seed, held);
  if (!frames) return cannot(frames.error().message);
  SendPlan plan{std::move(*frames), {}, job.schedule, job.count, job.duration};
  std::size_t longest = plan.frames.longest();
  if (!job.closing.empty()) {
    SpecResult<FrameSource> closing = FrameSource::make(job.closing, options.seed, held);
    if (!closing) return cannot(closing.error().message);
    longest = std::max(longest, closing->longest());
    plan.closing.emplace(std::move(*closing));
  }
  if (target.link() != nullptr) {
    if (longest > target.link()->max_bytes()) {
      return cannot(fmt::format("a frame of {} bytes is longer than {} carries, {}; a larger MTU, or shorter packets",
                                longest, options.interface, target.link()->max_bytes()));
    }
    return send_plan(target, options, std::move(plan));
  }
  const bool has_time = job.schedule.rate.bps != 0 || job.schedule.rate.pps != 0;
  if (job.count == 0 && (job.duration == Duration{0} || !has_time)) {
    return cannot("a file or a dry run needs an end: -n, or -D with --rate");
  }
  if (options.dry_run) return print_plan(std::move(plan));
  Outcome<SendTotals> written = write_frames(std::move(plan), options.file);
  if (!written) return tl::unexpected(written.error());
  return FrameResult{*written, {}, {}};
}

void print_frames(const std::string& event, const FrameOptions& options, const FrameResult& result,
                  const nlohmann::ordered_json& facts, const std::vector<std::string>& lines) {
  if (options.dry_run) return;
  const SendTotals& totals = result.totals;
  const bool on_wire = options.file.empty();
  // Standard output may be the file.
  std::FILE* const out = options.file == "-" ? stderr : stdout;
  if (options.json) {
    nlohmann::ordered_json line{{"event", event},
                                {"frames", totals.frames},
                                {"bytes", totals.bytes},
                                {"seconds", std::chrono::duration<double>(totals.time).count()}};
    if (on_wire) {
      line["refused"] = totals.refused;
      line["longest_gap_seconds"] = std::chrono::duration<double>(totals.longest_gap).count();
      line["stopped"] = totals.stopped;
    }
    if (options.segmentation) {
      line["super_frames"] = totals.super_frames;
      if (!totals.refusal.empty()) line["segmentation_refusal"] = totals.refusal;
    }
    if (result.counted) {
      line["interface"] = {{"name", options.interface},
                           {"sent_frames", result.counted->sent_frames},
                           {"send_drops", result.counted->send_drops}};
    }
    line.update(facts);
    fmt::print(out, "{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::fflush(out);
    return;
  }
  fmt::print(out, "{} {}, {} bytes, {:.3f} s{}\n", on_wire ? "sent" : "wrote",
             command_line::counted(totals.frames, "frame", "frames"), totals.bytes,
             std::chrono::duration<double>(totals.time).count(), rate_text(totals));
  if (options.segmentation) fmt::print(out, "{}\n", segmentation_text(totals));
  if (totals.refused != 0) {
    fmt::print(out, "{} more were lost: {} did not take them (it was down, or its queue was full)\n", totals.refused,
               options.interface);
  }
  if (result.counted) {
    fmt::print(out, "{} counted {} sent meanwhile{}\n", options.interface,
               command_line::counted(result.counted->sent_frames, "frame", "frames"),
               result.counted->send_drops != 0 ? fmt::format(" and {} dropped", result.counted->send_drops) : "");
  }
  for (const std::string& line : lines) fmt::print(out, "{}\n", line);
  std::fflush(out);
}

Outcome<ExitCode> ended(const FrameOptions& options, const FrameResult& result) {
  if (result.failure) return tl::unexpected(*result.failure);
  if (result.totals.refused != 0) {
    return failed(
        fmt::format("{} lost because {} did not take them; is it up? a lower --rate helps where "
                    "its queue was full",
                    command_line::counted(result.totals.refused, "frame was", "frames were"), options.interface));
  }
  return ExitCode::ok;
}

}  // namespace roce::gen
