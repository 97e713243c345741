// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/path_statements.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/statement_rows.h"
#include "command_line/program.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::PathMarks;
using analysis::PathSummary;
using analysis::PathTraffic;

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze paths trace.pcap
  roce-analyze paths --names hosts.txt -Y 'roce.src == 192.0.2.0/24' trace.pcap
  roce-analyze paths --json trace.pcap | jq 'select(.queue_pairs > 1 and (.source_ports | length) == 1)'

Networks spread flows over equal links by the UDP source port. "on 4" is the share that the fullest of four such links
is to be expected to carry of these flows; 25 % would be even.)";

/// Numbers of equal links for which the spread is shown.
constexpr std::array<unsigned, 3> kLinks{2, 4, 8};

class PathsConsumer final : public AnalysisConsumer {
 public:
  explicit PathsConsumer(const AnalysisSession& session) : session_(session) {}

  void on_packet(const AnalysedPacket& packet) override {
    points_.learn(packet);
    if (!session_.is_wanted(packet.analysis.stream) || !session_.is_chosen(packet.observation.id)) return;
    survey_.observe(packet.observation);
  }

  [[nodiscard]] const analysis::PathSurvey& survey() const { return survey_; }
  [[nodiscard]] const SeenPoints& points() const { return points_; }

 private:
  const AnalysisSession& session_;
  analysis::PathSurvey survey_;
  SeenPoints points_;
};

/// `26`, or `26 99 %, 0 1 %`: the DSCPs, those of most packets first.
std::string dscp_text(const PathMarks& marks) {
  const std::uint64_t all = marks.packets();
  std::vector<unsigned> dscps;
  for (unsigned dscp = 0; dscp < marks.dscp.size(); ++dscp) {
    if (marks.dscp[dscp] != 0) dscps.push_back(dscp);
  }
  if (dscps.size() < 2) return dscps.empty() ? std::string{} : std::to_string(dscps.front());
  std::ranges::stable_sort(dscps, [&](unsigned a, unsigned b) { return marks.dscp[a] > marks.dscp[b]; });
  std::string text;
  for (const unsigned dscp : dscps) {
    const double share = 100 * static_cast<double>(marks.dscp[dscp]) / static_cast<double>(all);
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", dscp, share);
  }
  return text;
}

std::vector<text::TableColumn> columns() {
  std::vector<text::TableColumn> columns{{"point", text::Align::left},
                                         {"from", text::Align::left, "source"},
                                         {"to", text::Align::left, "destination"},
                                         {"packets", text::Align::right},
                                         {"bytes", text::Align::right},
                                         {"QPs", text::Align::right, "queue_pairs"},
                                         {"ports", text::Align::right, "source_ports"},
                                         {"most in one", text::Align::right, "largest_port_share"}};
  for (const unsigned links : kLinks) {
    columns.push_back({fmt::format("on {}", links), text::Align::right, fmt::format("fullest_of_{}", links)});
  }
  columns.push_back({"DSCP of data", text::Align::left, "dscp_data"});
  columns.push_back({"of answers", text::Align::left, "dscp_answers"});
  columns.push_back({"of CNPs", text::Align::left, "dscp_cnps"});
  columns.push_back({"ECN", text::Align::right, "ecn_capable_share"});
  return columns;
}

text::TableCell share_cell(double share, bool is_known) {
  if (!is_known) return {};
  return {fmt::format("{:.0f} %", 100 * share), text::Tone::plain, share};
}

/// Returns the bytes of each flow that networks can send over a link of its own.
std::vector<std::uint64_t> weights_of(const PathSummary& path) {
  std::vector<std::uint64_t> weights;
  weights.reserve(path.ports.size());
  for (const analysis::PathPort& port : path.ports) weights.push_back(port.bytes);
  return weights;
}

std::vector<text::TableCell> row_of(const PathSummary& path, const AnalysisSession& session, const SeenPoints& points) {
  const std::vector<std::uint64_t> weights = weights_of(path);
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  const bool spreads = all != 0;
  const auto number = [](std::uint64_t value) {
    return text::TableCell{value == 0 ? "-" : text::count_text(value),
                           value == 0 ? text::Tone::faint : text::Tone::plain, value};
  };
  const bool is_alone = path.ports.size() == 1 && path.queue_pairs > 1;
  std::vector<text::TableCell> cells{
      {std::string{points.distinctive_name(path.point)}, text::Tone::plain, std::string{points.name(path.point)}},
      {session.names().text(path.source)},
      {session.names().text(path.destination)},
      number(path.packets),
      {text::bytes_text(path.bytes), text::Tone::plain, path.bytes},
      number(path.queue_pairs),
      spreads ? text::TableCell{text::count_text(path.ports.size()), is_alone ? text::Tone::caution : text::Tone::plain,
                                std::uint64_t{path.ports.size()}}
              : text::TableCell{},
      share_cell(spreads ? static_cast<double>(weights.front()) / static_cast<double>(all) : 0, spreads)};
  for (const unsigned links : kLinks) {
    cells.push_back(share_cell(spreads ? analysis::expected_fullest_share(weights, links) : 0, spreads));
  }
  const PathMarks& data = path.of(PathTraffic::data);
  for (const PathTraffic traffic : {PathTraffic::data, PathTraffic::answers, PathTraffic::cnp}) {
    cells.push_back({dscp_text(path.of(traffic))});
  }
  const std::uint64_t packets = data.packets();
  cells.push_back(share_cell(packets == 0 ? 0 : static_cast<double>(data.ecn_capable) / static_cast<double>(packets),
                             packets != 0));
  return cells;
}

OrderedJson counts_json(const PathMarks& marks) {
  OrderedJson counts = OrderedJson::object();
  for (std::size_t dscp = 0; dscp < marks.dscp.size(); ++dscp) {
    if (marks.dscp[dscp] != 0) counts[std::to_string(dscp)] = marks.dscp[dscp];
  }
  return counts;
}

OrderedJson path_json(const PathSummary& path, const AnalysisSession& session, const SeenPoints& points) {
  OrderedJson json;
  json["point"] = points.name(path.point);
  json["version"] = to_string(path.version);
  json["source"] = to_string(path.source);
  json["destination"] = to_string(path.destination);
  if (!session.names().empty()) {
    json["names"] = OrderedJson{session.names().text(path.source), session.names().text(path.destination)};
  }
  json["packets"] = path.packets;
  json["bytes"] = path.bytes;
  json["queue_pairs"] = path.queue_pairs;
  json["source_ports"] = OrderedJson::array();
  for (const analysis::PathPort& port : path.ports) {
    json["source_ports"].push_back({{"port", port.port}, {"packets", port.packets}, {"bytes", port.bytes}});
  }
  const std::vector<std::uint64_t> weights = weights_of(path);
  json["expected_fullest_share"] = OrderedJson::object();
  for (const unsigned links : kLinks) {
    if (weights.empty()) continue;
    json["expected_fullest_share"][std::to_string(links)] = analysis::expected_fullest_share(weights, links);
  }
  json["dscp"] = {{"data", counts_json(path.of(PathTraffic::data))},
                  {"answers", counts_json(path.of(PathTraffic::answers))},
                  {"cnps", counts_json(path.of(PathTraffic::cnp))},
                  {"management", counts_json(path.of(PathTraffic::management))}};
  json["ecn_capable_data"] = path.of(PathTraffic::data).ecn_capable;
  return json;
}

ExitCode run_paths(const AnalysisOptions& options) {
  AnalysisSession session{options};
  if (!session.open()) return session.finish();
  PathsConsumer consumer{session};
  analysis::TrackerOptions tracker;
  tracker.keep_messages = tracker.keep_answers = false;
  (void)session.run(consumer, tracker);
  const std::vector<PathSummary> paths = consumer.survey().summaries();
  RowWriter rows{session, columns(), 0, "point"};
  for (const PathSummary& path : paths) {
    if (options.json) {
      text::append(session.output().buffer(), json_line(path_json(path, session, consumer.points())));
    } else {
      rows.add(row_of(path, session, consumer.points()));
    }
  }
  rows.finish();
  const PathNames names{.host = [&](const Gid& host) { return session.names().text(host); },
                        .point = [&](std::uint16_t point) { return std::string{consumer.points().name(point)}; },
                        .arrow = std::string{arrow(session.layout().charset)}};
  std::vector<Statement> statements = statements_about_paths(paths, names);
  if (const std::uint64_t uncounted = consumer.survey().uncounted_packets(); uncounted != 0) {
    statements.push_back(
        {analysis::Severity::note, fmt::format("{} packets of further flows are not counted: there are too many flows",
                                               text::count_text(uncounted))});
  }
  write_statements(session, statements);
  return session.finish();
}

}  // namespace

void add_paths(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("paths", "One row for each two hosts: how their flows spread, and how they are marked");
  const auto options = std::make_shared<AnalysisOptions>();
  add_common_options(command, *options);
  add_list_options(command, *options);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_paths(*options); });
}

}  // namespace roce::analyze
