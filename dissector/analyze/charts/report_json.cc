// SPDX-License-Identifier: BSD-2-Clause
// The data of a report as JSON, for the page that draws it.
#include "analyze/charts/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyze/charts/report_tables.h"
#include "analyze/charts/report_views.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"
#include "page/timeline_json.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::VerdictKind;

void append_timeline_of(std::string& out, ReportSeries& series) {
  out += fmt::format(R"({{"start":"{}","waits_left_out":{},)", utc_text(series.start_ns()),
                     series.waits().uncounted_packets());
  page::append_timeline(out, series.pyramid(), report_series(), kPlainSeries);
  out += '}';
}

std::uint64_t sum(const StreamSummary& stream, std::uint64_t analysis::DirectionSummary::*member) {
  return stream.directions[0].*member + stream.directions[1].*member;
}

OrderedJson stream_row(const StreamSummary& stream, const SummaryView& view, const SeenPoints& points) {
  const analysis::Histogram latency = latencies(stream);
  const LossPlaces lost = view.result.verdicts.lost_of(stream.stream);
  std::uint64_t messages = 0;
  for (const analysis::DirectionSummary& direction : stream.directions) {
    for (const std::uint64_t count : direction.messages) messages += count;
  }
  const auto time = [&](Duration value) { return latency.count() == 0 ? OrderedJson{} : OrderedJson(value.count()); };
  const std::int64_t start = view.result.counts.first_ns.value_or(0);
  return OrderedJson::array({stream.stream,
                             points.distinctive_name(stream.point),
                             ends_text(stream, view.names, text::Charset::utf8),
                             service_text(stream.service),
                             stream.start.time_since_epoch().count() - start,
                             (stream.end - stream.start).count(),
                             sum(stream, &analysis::DirectionSummary::packets),
                             sum(stream, &analysis::DirectionSummary::bytes),
                             messages,
                             goodput(stream),
                             retransmissions(stream),
                             lost.before,
                             lost.after,
                             lost.beyond,
                             error_naks(stream) + stream.count(VerdictKind::nak_sequence_error),
                             stream.count(VerdictKind::rnr_nak),
                             stream.count(VerdictKind::ce_mark),
                             stream.count(VerdictKind::cnp),
                             time(latency.quantile(0.5)),
                             time(latency.quantile(0.99)),
                             time(latency.max())});
}

OrderedJson streams_json(const SummaryView& view) {
  const SeenPoints points{view.result.points};
  OrderedJson json;
  json["columns"] = {"stream", "point",    "ends",    "service", "start_ns",    "duration_ns", "packets",
                     "bytes",  "messages", "goodput", "resent",  "lost_before", "lost_after",  "lost_beyond",
                     "nak",    "rnr",      "ce",      "cnp",     "p50_ns",      "p99_ns",      "max_ns"};
  OrderedJson rows = OrderedJson::array();
  const std::vector<const StreamSummary*>& worst = view.summary.worst;
  for (std::size_t i = 0; i < std::min(worst.size(), kListedStreams); ++i) {
    rows.push_back(stream_row(*worst[i], view, points));
  }
  json["left_out"] = worst.size() - std::min(worst.size(), kListedStreams);
  json["rows"] = std::move(rows);
  return json;
}

}  // namespace

std::string report_json(const SummaryView& view, ReportSeries& series, bool is_live) {
  std::string json = R"({"timeline":)";
  append_timeline_of(json, series);
  const auto add = [&](std::string_view name, const OrderedJson& value) {
    json += fmt::format(R"(,"{}":)", name);
    json += json_line(value);
  };
  add("program", "roce-analyze " ROCE_VERSION);
  add("live", is_live);
  add("summary", summary_json(view));
  add("streams", streams_json(view));
  add("psn", psn_json(view, series));
  add("slowest", slowest_json(view, series));
  add("latency", latency_curves_json(series));
  add("congestion", congestion_views_json(view, series));
  add("hosts", hosts_json(view));
  add("pauses", pauses_json(view, series));
  add("tables", tables_json(view, series));
  json += "}\n";
  return json;
}

}  // namespace roce::analyze
