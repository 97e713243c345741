// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analyze/commands/commands.h"
#include "analyze/input/report.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/report/time_bins.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "text/human_units.h"
#include "text/sparkline.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze timeline trace.pcap                             one line a series
  roce-analyze timeline --interval 10ms --rows trace.pcap
  roce-analyze timeline --stream 3 --interval 1ms --csv trace.pcap
  roce-analyze timeline -Y 'roce.dst == 192.0.2.0/24' trace.pcap

Goodput is payload that was seen for the first time. Losses stand where they were noticed.)";

struct TimelineOptions {
  AnalysisOptions common;
  std::string interval;
  bool rows = false;
};

class TimelineConsumer final : public AnalysisConsumer {
 public:
  TimelineConsumer(const AnalysisSession& session, std::int64_t width_ns) : session_(session), bins_(width_ns) {}

  void on_packet(const AnalysedPacket& packet) override {
    if (!start_ns_) start_ns_ = capture_start(packet);
    const analysis::Observation& seen = packet.observation;
    if (!session_.is_wanted(packet.analysis.stream) || !session_.is_chosen(seen.id)) return;
    TimeBin& bin = bins_.at(seen.time.time_since_epoch().count());
    if (seen.kind != PacketKind::roce) {
      if (seen.pauses()) ++bin.xoff;
      return;
    }
    count(packet, bin);
  }

  void on_verdict(const analysis::Verdict& verdict) override {
    if (!session_.is_wanted(verdict.stream) || !session_.is_chosen(verdict.packet)) return;
    TimeBin& bin = bins_.at(verdict.time.time_since_epoch().count());
    if (const auto counter = counter_of(verdict.kind)) bin.*counter += weight_of(verdict);
  }

  [[nodiscard]] TimeBins& bins() { return bins_; }
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_.value_or(0); }

 private:
  const AnalysisSession& session_;
  TimeBins bins_;
  std::optional<std::int64_t> start_ns_;
};

double per_second(std::uint64_t count, std::int64_t width_ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(width_ns);
}

void show_rows(AnalysisSession& session, const TimeBins& bins, std::int64_t start_ns) {
  RowWriter rows{session,
                 {{"time", text::Align::right, "time"},
                  {"packets", text::Align::right},
                  {"rate", text::Align::right, "bits_per_second"},
                  {"goodput", text::Align::right, "goodput_bits_per_second"},
                  {"resent", text::Align::right},
                  {"lost", text::Align::right},
                  {"NAK", text::Align::right, "nak"},
                  {"RNR", text::Align::right, "rnr"},
                  {"CE", text::Align::right, "ce"},
                  {"CNP", text::Align::right, "cnp"},
                  {"XOFF", text::Align::right, "xoff"},
                  {"interval_ns", text::Align::right}},
                 1};
  const auto number = [](std::uint64_t value, text::Tone tone = text::Tone::plain) {
    return text::TableCell{value == 0 ? "-" : text::count_text(value), value == 0 ? text::Tone::faint : tone, value};
  };
  for (std::size_t i = 0; i < bins.bins().size(); ++i) {
    const TimeBin& bin = bins.bins()[i];
    const std::int64_t time = bins.start_ns() + static_cast<std::int64_t>(i) * bins.width_ns();
    const double rate = per_second(bin.bytes * 8, bins.width_ns());
    const double goodput = per_second(bin.payload * 8, bins.width_ns());
    rows.add({{seconds_text(time - start_ns), text::Tone::plain, utc_text(time)},
              number(bin.packets),
              {bin.bytes == 0 ? "-" : text::bit_rate_text(rate), bin.bytes == 0 ? text::Tone::faint : text::Tone::plain,
               rate},
              {bin.payload == 0 ? "-" : text::bit_rate_text(goodput),
               bin.payload == 0 ? text::Tone::faint : text::Tone::plain, goodput},
              number(bin.resent, text::Tone::caution),
              number(bin.lost, text::Tone::bad),
              number(bin.naks, text::Tone::caution),
              number(bin.rnr, text::Tone::caution),
              number(bin.ce),
              number(bin.cnp),
              number(bin.xoff),
              {"", text::Tone::plain, bins.width_ns()}});
  }
  rows.finish();
}

void show_lines(AnalysisSession& session, const TimeBins& bins, std::int64_t start_ns) {
  text::TextBuffer& out = session.output().buffer();
  const std::int64_t end = bins.start_ns() + static_cast<std::int64_t>(bins.bins().size()) * bins.width_ns();
  text::append(out, fmt::format("{} to {} s; a character is {}\n", seconds_text(bins.start_ns() - start_ns),
                                seconds_text(end - start_ns), text::duration_text(bins.width_ns())));
  text::TextTable table({{"series"}, {""}, {"highest", text::Align::right}, {"all", text::Align::right}});
  const auto add = [&](std::string_view name, std::uint64_t TimeBin::*member, bool is_rate, text::Tone tone) {
    std::vector<double> values;
    std::uint64_t highest = 0;
    std::uint64_t total = 0;
    for (const TimeBin& bin : bins.bins()) {
      values.push_back(static_cast<double>(bin.*member));
      highest = std::max(highest, bin.*member);
      total += bin.*member;
    }
    if (total == 0) return;
    table.add_row(
        {{std::string{name}},
         {text::sparkline(values, values.size(), session.layout().charset), tone},
         {is_rate ? text::bit_rate_text(per_second(highest * 8, bins.width_ns())) : text::count_text(highest)},
         {is_rate ? text::bytes_text(total) : text::count_text(total)}});
  };
  add("rate", &TimeBin::bytes, true, text::Tone::plain);
  add("goodput", &TimeBin::payload, true, text::Tone::plain);
  add("packets", &TimeBin::packets, false, text::Tone::plain);
  add("resent", &TimeBin::resent, false, text::Tone::caution);
  add("lost", &TimeBin::lost, false, text::Tone::bad);
  add("NAK", &TimeBin::naks, false, text::Tone::caution);
  add("RNR", &TimeBin::rnr, false, text::Tone::caution);
  add("CE", &TimeBin::ce, false, text::Tone::plain);
  add("CNP", &TimeBin::cnp, false, text::Tone::plain);
  add("XOFF", &TimeBin::xoff, false, text::Tone::plain);
  table.append_text(out, session.layout());
}

ExitCode run_timeline(const TimelineOptions& options) {
  constexpr std::int64_t kFinest = 1000;
  constexpr std::size_t kCharacters = 60;
  std::optional<std::int64_t> interval;
  if (!options.interval.empty()) {
    interval = text::parse_duration(options.interval);
    if (!interval || *interval <= 0) {
      report(fmt::format("--interval takes a duration such as 10ms, 250us or 1s, not '{}'", options.interval));
      return ExitCode::usage;
    }
  }
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  TimelineConsumer consumer{session, interval.value_or(kFinest)};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  TimeBins& bins = consumer.bins();
  if (interval && bins.width_ns() != *interval) {
    report(fmt::format("warning: the capture has more than {} intervals of {}; they are {} now", TimeBins::kMost,
                       text::duration_text(*interval), text::duration_text(bins.width_ns())));
  }
  if (!interval) bins.join(kCharacters);
  if (options.rows || options.common.json || options.common.csv) {
    show_rows(session, bins, consumer.start_ns());
  } else if (!bins.bins().empty()) {
    bins.join(std::max<std::size_t>(kCharacters, session.layout().width / 2));
    show_lines(session, bins, consumer.start_ns());
  }
  return session.finish();
}

}  // namespace

void add_timeline(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("timeline", "Goodput, losses and congestion over time");
  const auto options = std::make_shared<TimelineOptions>();
  add_common_options(command, options->common);
  add_list_options(command, options->common);
  command.add_option("--interval", options->interval, "Length of an interval (60 of them)").type_name("DURATION");
  command.add_flag("--rows", options->rows, "One row an interval instead of one line a series");
  command.footer(std::string{kExamples});
  options->common.mixes_points = true;
  command.callback([options, &code] { code = run_timeline(*options); });
}

}  // namespace roce::analyze
