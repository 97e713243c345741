// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/report_tables.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analyze/report/json_values.h"
#include "analyze/run/incast_statements.h"
#include "analyze/run/path_statements.h"
#include "analyze/run/stream_figures.h"

namespace roce::analyze {

namespace {

using analysis::FanInLoad;
using analysis::FanInSummary;
using analysis::FanInWindow;
using analysis::PathMarks;
using analysis::PathSummary;
using analysis::PathTraffic;

constexpr std::size_t kRows = 1024;

/// A column, and the form of its numbers.
struct Column {
  const char* name;
  const char* kind;
};

OrderedJson table_of(const char* id, const char* title, const char* hint, std::initializer_list<Column> columns) {
  OrderedJson table{{"id", id}, {"title", title}, {"hint", hint}};
  for (const Column& column : columns) {
    table["columns"].push_back(column.name);
    table["kinds"].push_back(column.kind);
  }
  table["rows"] = OrderedJson::array();
  return table;
}

OrderedJson share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? OrderedJson{} : OrderedJson(static_cast<double>(part) / static_cast<double>(all));
}

std::string dscps(const PathMarks& marks) {
  std::vector<std::size_t> seen;
  for (std::size_t dscp = 0; dscp < marks.dscp.size(); ++dscp) {
    if (marks.dscp[dscp] != 0) seen.push_back(dscp);
  }
  std::ranges::stable_sort(seen, std::ranges::greater{}, [&](std::size_t dscp) { return marks.dscp[dscp]; });
  std::string text;
  for (const std::size_t dscp : seen) text += (text.empty() ? "" : ", ") + std::to_string(dscp);
  return text;
}

/// Keeps the rows with the most bytes.
template <typename Row>
void keep_largest(std::vector<Row>& rows, const std::function<std::uint64_t(const Row&)>& bytes_of) {
  std::ranges::stable_sort(rows, std::ranges::greater{}, bytes_of);
  rows.resize(std::min(rows.size(), kRows));
}

OrderedJson paths_table(const SummaryView& view, std::vector<PathSummary> paths) {
  OrderedJson table = table_of("paths", "Paths",
                               "Networks spread flows over equal links by the UDP source port. \"on 4\" is the "
                               "share that the fullest of four such links is to be expected to carry of these flows; "
                               "25 % would be even. DSCPs are those at the capture point, the most frequent first.",
                               {{"point", "text"},
                                {"from", "text"},
                                {"to", "text"},
                                {"packets", "count"},
                                {"bytes", "bytes"},
                                {"queue_pairs", "count"},
                                {"source_ports", "count"},
                                {"most_in_one", "share"},
                                {"on_2", "share"},
                                {"on_4", "share"},
                                {"on_8", "share"},
                                {"dscp", "text"},
                                {"of_answers", "text"},
                                {"of_cnps", "text"},
                                {"ecn", "share"}});
  const SeenPoints points{view.result.points};
  const PathNames names{.host = [&](const Gid& host) { return view.names.text(host); },
                        .point = [&](std::uint16_t point) { return std::string{points.name(point)}; },
                        .arrow = "→"};
  for (const Statement& statement : statements_about_paths(paths, names)) {
    table["statements"].push_back({{"severity", severity_text(statement.severity)}, {"text", statement.text}});
  }
  keep_largest<PathSummary>(paths, [](const PathSummary& path) { return path.bytes; });
  for (const PathSummary& path : paths) {
    std::vector<std::uint64_t> weights;
    weights.reserve(path.ports.size());
    for (const analysis::PathPort& port : path.ports) weights.push_back(port.bytes);
    const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    const auto fullest = [&](unsigned links) {
      return all == 0 ? OrderedJson{} : OrderedJson(analysis::expected_fullest_share(weights, links));
    };
    const PathMarks& data = path.of(PathTraffic::data);
    table["rows"].push_back({points.distinctive_name(path.point), view.names.text(path.source),
                             view.names.text(path.destination), path.packets, path.bytes, path.queue_pairs,
                             path.ports.size(), weights.empty() ? OrderedJson{} : share(weights.front(), all),
                             fullest(2), fullest(4), fullest(8), dscps(data), dscps(path.of(PathTraffic::answers)),
                             dscps(path.of(PathTraffic::cnp)), share(data.ecn_capable, data.packets())});
  }
  return table;
}

OrderedJson incast_table(const SummaryView& view, std::vector<FanInSummary> hosts, std::uint64_t link_bits_per_second) {
  OrderedJson table =
      table_of("incast", "Many to one",
               "A host sends \"at once\" with another one if data of both comes within the same 100 us. Lost are "
               "the packets whose loss came to light within 65,536 frames.",
               {{"point", "text"},
                {"to", "text"},
                {"bytes", "bytes"},
                {"senders", "count"},
                {"at_once", "count"},
                {"at_once_frame", "count"},
                {"of_2_or_more", "share"},
                {"of_4_or_more", "share"},
                {"busiest_bps", "bps"},
                {"busiest_frame", "count"},
                {"marked", "count"},
                {"marked_of_2_or_more", "count"},
                {"lost", "bad"},
                {"lost_of_2_or_more", "bad"}});
  const SeenPoints points{view.result.points};
  for (const Statement& statement :
       statements_about_incast(hosts, {analysis::FanInSurvey::kWindow, link_bits_per_second},
                               [&](const Gid& host) { return view.names.text(host); })) {
    table["statements"].push_back({{"severity", severity_text(statement.severity)}, {"text", statement.text}});
  }
  const auto frame_of = [&](const FanInWindow& window) {
    return find_frame(view.result.files, window.first.frame).number;
  };
  keep_largest<FanInSummary>(hosts, [](const FanInSummary& host) { return host.all().bytes; });
  for (const FanInSummary& host : hosts) {
    const FanInLoad all = host.all();
    const FanInLoad many = host.from(2);
    table["rows"].push_back({points.distinctive_name(host.point), view.names.text(host.destination), all.bytes,
                             host.senders.size(), host.fullest.senders, frame_of(host.fullest),
                             share(many.bytes, all.bytes), share(host.from(4).bytes, all.bytes),
                             bits_per_second(host.busiest.bytes, analysis::FanInSurvey::kWindow),
                             frame_of(host.busiest), all.marked, many.marked, all.lost, many.lost});
  }
  return table;
}

}  // namespace

OrderedJson tables_json(const SummaryView& view, const ReportSeries& series) {
  OrderedJson tables = OrderedJson::array();
  for (OrderedJson& table :
       std::array{paths_table(view, series.paths().summaries()),
                  incast_table(view, series.fan_in().summaries(), series.link_bits_per_second())}) {
    if (!table["rows"].empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace roce::analyze
