// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/input/report.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/wait_statements.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/statement_rows.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::WaitFor;
using analysis::WaitSummary;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze waits trace.pcap
  roce-analyze waits --stream 3 --link-speed 100G trace.pcap
  roce-analyze waits --json trace.pcap | jq 'select(.waits.answers.share > 0.5) | .source'

Capture near the requester: farther away, what it waits for is seen later than it sees it. READs are judged by their
requester, which waits for answers while they come.)";

/// A wait, and how its column is called.
struct WaitColumn {
  WaitFor wait{};
  const char* heading = nullptr;
};

constexpr std::array<WaitColumn, analysis::kWaits> kColumns{{{WaitFor::nothing, "sends"},
                                                             {WaitFor::link, "link"},
                                                             {WaitFor::answers, "answers"},
                                                             {WaitFor::application, "application"},
                                                             {WaitFor::host, "host"},
                                                             {WaitFor::rate, "CNPs"},
                                                             {WaitFor::losses, "losses"},
                                                             {WaitFor::receiver, "RNR"},
                                                             {WaitFor::credits, "credits"},
                                                             {WaitFor::pauses, "pauses"}}};

class WaitsConsumer final : public AnalysisConsumer {
 public:
  explicit WaitsConsumer(const AnalysisSession& session)
      : session_(session),
        survey_(session.link_bits_per_second(), 2 * static_cast<std::size_t>(session.options().max_streams)) {}

  void on_packet(const AnalysedPacket& packet) override {
    points_.learn(packet);
    survey_.observe(packet.observation, packet.analysis);
  }

  [[nodiscard]] std::vector<WaitSummary> requesters() const {
    std::vector<WaitSummary> all = survey_.summaries();
    std::erase_if(all, [&](const WaitSummary& each) { return !session_.is_wanted(each.stream); });
    return all;
  }
  [[nodiscard]] std::uint64_t uncounted_packets() const { return survey_.uncounted_packets(); }
  [[nodiscard]] const SeenPoints& points() const { return points_; }

 private:
  const AnalysisSession& session_;
  analysis::WaitSurvey survey_;
  SeenPoints points_;
};

double share_of(const WaitSummary& requester, WaitFor wait) {
  const Duration all = requester.all();
  return all <= Duration::zero() ? 0
                                 : static_cast<double>(requester.of(wait).count()) / static_cast<double>(all.count());
}

std::vector<text::TableColumn> columns() {
  std::vector<text::TableColumn> columns{
      {"point", text::Align::left},          {"stream", text::Align::right},
      {"from", text::Align::left, "source"}, {"to", text::Align::left, "destination"},
      {"payload", text::Align::right},       {"time", text::Align::right, "time_ns"}};
  for (const WaitColumn& column : kColumns) {
    columns.push_back({column.heading, text::Align::right, fmt::format("share_{}", to_string(column.wait))});
  }
  columns.push_back({"under way", text::Align::right, "mean_under_way"});
  columns.push_back({"most", text::Align::right, "most_under_way"});
  columns.push_back({"round trip", text::Align::right, "least_round_trip_ns"});
  columns.push_back({"mean", text::Align::right, "mean_round_trip_ns"});
  return columns;
}

std::vector<text::TableCell> row_of(const WaitSummary& requester, const AnalysisSession& session,
                                    const SeenPoints& points) {
  std::vector<text::TableCell> cells{
      {std::string{points.distinctive_name(requester.point)}, text::Tone::plain,
       std::string{points.name(requester.point)}},
      {std::to_string(requester.stream), text::Tone::plain, std::uint64_t{requester.stream}},
      {session.names().text(requester.source)},
      {fmt::format("{} {:#x}", session.names().text(requester.destination), requester.dest_qp.value())},
      {text::bytes_text(requester.payload), text::Tone::plain, requester.payload},
      {text::duration_text(requester.all().count()), text::Tone::plain,
       static_cast<std::uint64_t>(requester.all().count())}};
  for (const WaitColumn& column : kColumns) {
    const double share = share_of(requester, column.wait);
    const text::Tone tone = share < 0.005 ? text::Tone::faint : share < 0.5 ? text::Tone::plain : text::Tone::caution;
    cells.push_back({share == 0 ? "-" : fmt::format("{:.0f} %", 100 * share),
                     column.wait == WaitFor::nothing && share >= 0.5 ? text::Tone::plain : tone, share});
  }
  cells.push_back({fmt::format("{:.1f}", requester.mean_under_way), text::Tone::plain, requester.mean_under_way});
  cells.push_back({text::count_text(requester.most_under_way), text::Tone::plain, requester.most_under_way});
  if (requester.least_round_trip) {
    cells.push_back({text::duration_text(requester.least_round_trip->count()), text::Tone::plain,
                     static_cast<std::uint64_t>(requester.least_round_trip->count())});
  } else {
    cells.emplace_back();
  }
  cells.push_back({text::duration_text(requester.mean_round_trip.count()), text::Tone::plain,
                   static_cast<std::uint64_t>(requester.mean_round_trip.count())});
  return cells;
}

OrderedJson json_of(const WaitSummary& requester, const AnalysisSession& session, const SeenPoints& points) {
  OrderedJson json;
  json["point"] = points.name(requester.point);
  json["stream"] = requester.stream;
  json["source"] = to_string(requester.source);
  json["destination"] = to_string(requester.destination);
  json["dest_qp"] = requester.dest_qp.value();
  if (!session.names().empty()) {
    json["names"] = OrderedJson{session.names().text(requester.source), session.names().text(requester.destination)};
  }
  json["is_near"] = requester.is_near;
  json["requests"] = requester.requests;
  json["resent"] = requester.resent;
  json["payload"] = requester.payload;
  json["time_ns"] = requester.all().count();
  json["waits"] = OrderedJson::object();
  for (const WaitColumn& column : kColumns) {
    json["waits"][std::string{to_string(column.wait)}] = {{"time_ns", requester.of(column.wait).count()},
                                                          {"share", share_of(requester, column.wait)}};
  }
  json["mean_under_way"] = requester.mean_under_way;
  json["most_under_way"] = requester.most_under_way;
  json["least_round_trip_ns"] = requester.least_round_trip ? OrderedJson(requester.least_round_trip->count()) : nullptr;
  json["mean_round_trip_ns"] = requester.mean_round_trip.count();
  return json;
}

ExitCode run_waits(const AnalysisOptions& options) {
  AnalysisSession session{options};
  if (!session.open()) return session.finish();
  WaitsConsumer consumer{session};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  static_cast<void>(session.run(consumer, tracker));
  const std::vector<WaitSummary> requesters = consumer.requesters();
  RowWriter rows{session, columns(), 0, "point"};
  for (const WaitSummary& requester : requesters) {
    if (options.json) {
      text::append(session.output().buffer(), json_line(json_of(requester, session, consumer.points())));
    } else {
      rows.add(row_of(requester, session, consumer.points()));
    }
  }
  rows.finish();
  const auto name = [&](const WaitSummary& requester) {
    return fmt::format("stream {}, {} {} {}", requester.stream, session.names().text(requester.source),
                       arrow(session.layout().charset), session.names().text(requester.destination));
  };
  write_statements(session, statements_about_waits(requesters, name));
  if (consumer.uncounted_packets() != 0) {
    report(fmt::format("warning: {} of further requesters are not counted: there are too many",
                       text::counted(consumer.uncounted_packets(), "packet", "packets")));
  }
  return session.finish();
}

}  // namespace

void add_waits(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("waits", "One row for each requester: what it waits for, and so what limits it");
  const auto options = std::make_shared<AnalysisOptions>();
  add_common_options(command, *options);
  command.add_flag("--csv", options->csv, "For programs: CSV").excludes("--json");
  command.add_option("--stream", options->stream, "Only this stream").type_name("NUMBER");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_waits(*options); });
}

}  // namespace roce::analyze
