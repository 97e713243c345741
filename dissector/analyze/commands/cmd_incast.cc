// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/input/report.h"
#include "analyze/report/json_values.h"
#include "analyze/run/incast_statements.h"
#include "analyze/session/analysis_filter.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/statement_rows.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::FanInLoad;
using analysis::FanInSender;
using analysis::FanInSummary;
using analysis::FanInWindow;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze incast trace.pcap
  roce-analyze incast --window 1ms --names hosts.txt trace.pcap
  roce-analyze incast --json trace.pcap | jq 'select(.fullest.senders >= 8) | .senders'

A host sends "at once" with another one if data of both comes within the same 100 us. What was lost, or marked CE by a
switch, stands beside it: in all, and while two hosts or more sent.)";

constexpr std::int64_t kLeastWindow = 1'000;
constexpr std::int64_t kMostWindow = 60'000'000'000;

struct IncastOptions {
  AnalysisOptions common;
  std::string window;
};

/// Learns which packets were lost, or show that others were.
class LossConsumer final : public AnalysisConsumer {
 public:
  void on_verdict(const analysis::Verdict& verdict) override {
    const std::uint32_t lost = packets_lost_by(verdict);
    if (lost == 0) return;
    if (lost_.size() == kMost && !lost_.contains(verdict.packet)) {
      left_out_ += lost;
      return;
    }
    lost_[verdict.packet] += lost;
  }
  [[nodiscard]] bool wants_packets() const override { return false; }

  [[nodiscard]] std::uint32_t lost_at(analysis::PacketId packet) const {
    const auto found = lost_.find(packet);
    return found == lost_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 22U;

  std::unordered_map<analysis::PacketId, std::uint32_t, PacketIdHash> lost_;
  std::uint64_t left_out_ = 0;
};

class IncastConsumer final : public AnalysisConsumer {
 public:
  IncastConsumer(Duration window, const LossConsumer& losses) : losses_(losses), survey_(window) {}

  void on_packet(const AnalysedPacket& packet) override {
    points_.learn(packet);
    files_.learn(packet.file);
    survey_.observe(packet.observation, losses_.lost_at(packet.observation.id));
  }

  [[nodiscard]] const analysis::FanInSurvey& survey() const { return survey_; }
  [[nodiscard]] const SeenPoints& points() const { return points_; }
  [[nodiscard]] const SeenFiles& files() const { return files_; }

 private:
  const LossConsumer& losses_;
  analysis::FanInSurvey survey_;
  SeenPoints points_;
  SeenFiles files_;
};

/// Writes what the survey found.
class Report {
 public:
  Report(AnalysisSession& session, const IncastConsumer& found, Duration window)
      : session_(session), found_(found), window_(window) {}

  [[nodiscard]] static std::vector<text::TableColumn> columns() {
    using text::Align;
    return {{"point", Align::left},
            {"to", Align::left, "destination"},
            {"bytes", Align::right},
            {"senders", Align::right},
            {"at once", Align::right, "senders_at_once"},
            {"frame", Align::right, "fullest_frame"},
            {"bytes of 2+", Align::right, "bytes_share_of_many"},
            {"of 4+", Align::right, "bytes_share_of_4"},
            {"busiest", Align::right, "busiest_bits_per_second"},
            {"frame", Align::right, "busiest_frame"},
            {"CE", Align::right, "marked"},
            {"of 2+", Align::right, "marked_of_many"},
            {"lost", Align::right, "lost"},
            {"of 2+", Align::right, "lost_of_many"}};
  }

  [[nodiscard]] std::vector<text::TableCell> row(const FanInSummary& host) const {
    const FanInLoad all = host.all();
    const FanInLoad many = host.from(2);
    const auto number = [](std::uint64_t value, text::Tone tone = text::Tone::plain) {
      return text::TableCell{value == 0 ? "-" : text::count_text(value), value == 0 ? text::Tone::faint : tone, value};
    };
    const auto share = [&](std::uint64_t bytes) {
      return text::TableCell{bytes == 0 ? "-" : text::percent_text(bytes, all.bytes),
                             bytes == 0 ? text::Tone::faint : text::Tone::plain,
                             static_cast<double>(bytes) / static_cast<double>(all.bytes)};
    };
    const double rate = bits_per_second(host.busiest);
    return {
        {std::string{found_.points().distinctive_name(host.point)}, text::Tone::plain,
         std::string{found_.points().name(host.point)}},
        {session_.names().text(host.destination)},
        {text::bytes_text(all.bytes), text::Tone::plain, all.bytes},
        number(host.senders.size()),
        number(host.fullest.senders),
        number(found_.files().find(host.fullest.first.frame).number),
        share(many.bytes),
        share(host.from(4).bytes),
        {text::bit_rate_text(rate), text::Tone::plain, rate},
        number(found_.files().find(host.busiest.first.frame).number),
        number(all.marked),
        number(many.marked, text::Tone::caution),
        number(all.lost),
        number(many.lost, text::Tone::caution),
    };
  }

  [[nodiscard]] OrderedJson json(const FanInSummary& host) const {
    OrderedJson json;
    json["point"] = found_.points().name(host.point);
    json["destination"] = to_string(host.destination);
    if (!session_.names().empty()) json["name"] = session_.names().text(host.destination);
    json["window_ns"] = window_.count();
    json["fullest"] = json_of(host.fullest);
    json["busiest"] = json_of(host.busiest);
    json["by_senders_at_once"] = OrderedJson::array();
    for (std::size_t level = 0; level < host.levels.size(); ++level) {
      if (host.levels[level].windows == 0) continue;
      OrderedJson one{{"senders", level + 1}};
      one.update(json_of(host.levels[level]));
      json["by_senders_at_once"].push_back(std::move(one));
    }
    json["senders"] = OrderedJson::array();
    for (const FanInSender& sender : host.senders) {
      OrderedJson one{{"source", to_string(sender.source)}};
      if (!session_.names().empty()) one["name"] = session_.names().text(sender.source);
      one.update(json_of(sender.load));
      json["senders"].push_back(std::move(one));
    }
    return json;
  }

  void write() {
    const std::vector<FanInSummary> hosts = found_.survey().summaries();
    RowWriter rows{session_, columns(), 0, "point"};
    for (const FanInSummary& host : hosts) {
      if (session_.options().json) {
        text::append(session_.output().buffer(), json_line(json(host)));
      } else {
        rows.add(row(host));
      }
    }
    rows.finish();
    write_statements(session_, statements_about_incast(hosts, {window_, session_.link_bits_per_second()},
                                                       [&](const Gid& host) { return session_.names().text(host); }));
  }

 private:
  [[nodiscard]] double bits_per_second(const FanInWindow& window) const {
    return static_cast<double>(window.bytes) * 8e9 / static_cast<double>(window_.count());
  }

  [[nodiscard]] static OrderedJson json_of(const FanInLoad& load) {
    return {{"windows", load.windows}, {"bytes", load.bytes}, {"marked", load.marked}, {"lost", load.lost}};
  }

  [[nodiscard]] OrderedJson json_of(const FanInWindow& window) const {
    const FramePlace place = found_.files().find(window.first.frame);
    return {{"time_ns", window.start.time_since_epoch().count()},
            {"file", place.file == nullptr ? "" : place.file->path},
            {"frame", place.number},
            {"senders", window.senders},
            {"bytes", window.bytes},
            {"bits_per_second", bits_per_second(window)}};
  }

  AnalysisSession& session_;
  const IncastConsumer& found_;
  Duration window_;
};

ExitCode run_incast(const IncastOptions& options) {
  Duration window = analysis::FanInSurvey::kWindow;
  if (!options.window.empty()) {
    const auto given = text::parse_duration(options.window);
    if (!given || *given < kLeastWindow || *given > kMostWindow) {
      report(fmt::format("--window takes a duration from 1us to 1min, such as 100us, not '{}'", options.window));
      return ExitCode::usage;
    }
    window = Duration{*given};
  }
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  for (const InputFile& file : session.inputs()) {
    if (file.is_regular) continue;
    report(
        fmt::format("what is lost is known only at the end, so that incast reads its input twice: '{}' cannot be; "
                    "save it to a file first",
                    file.path == "-" ? "standard input" : file.path));
    return ExitCode::usage;
  }
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  LossConsumer losses;
  static_cast<void>(session.run(losses, tracker));
  IncastConsumer found{window, losses};
  static_cast<void>(session.run_again(found, tracker));
  Report{session, found, window}.write();
  if (losses.left_out() != 0) {
    report(fmt::format("warning: {} are not in the columns of losses: there are too many",
                       text::counted(losses.left_out(), "lost packet", "lost packets")));
  }
  if (const std::uint64_t uncounted = found.survey().uncounted_packets(); uncounted != 0) {
    report(fmt::format("warning: {} of further hosts are not counted: there are too many pairs of hosts",
                       text::counted(uncounted, "packet", "packets")));
  }
  return session.finish();
}

}  // namespace

void add_incast(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand(
      "incast", "One row for each host that data goes to: how many send at once, and what is lost");
  const auto options = std::make_shared<IncastOptions>();
  add_common_options(command, options->common);
  command.add_flag("--csv", options->common.csv, "For programs: CSV").excludes("--json");
  command
      .add_option("--window", options->window,
                  "Count hosts as sending at once whose data comes within this time (100us)")
      .type_name("DURATION");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_incast(*options); });
}

}  // namespace roce::analyze
