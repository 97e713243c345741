// SPDX-License-Identifier: BSD-2-Clause
// The data of the single views of a report.
#include "analyze/charts/report_views.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "analyze/charts/host_pairs.h"
#include "analyze/report/json_values.h"
#include "analyze/report/message_row.h"
#include "analyze/report/stream_text.h"

namespace roce::analyze {

namespace {

constexpr std::size_t kGraphs = 8;
constexpr std::size_t kPairs = 1024;
constexpr std::size_t kCongested = 100;
constexpr std::array kShares{0.0, 0.1,  0.2,  0.3,  0.4,   0.5,   0.6,    0.7,    0.8,
                             0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0};

OrderedJson points_json(const std::vector<PsnPoint>& points, std::int64_t start_ns) {
  std::array<OrderedJson, 6> columns;
  columns.fill(OrderedJson::array());
  for (const PsnPoint& point : points) {
    columns[0].push_back(point.time_ns - start_ns);
    columns[1].push_back(point.psn);
    columns[2].push_back(point.frame);
    columns[3].push_back(static_cast<unsigned>(point.kind));
    columns[4].push_back(point.requester);
    columns[5].push_back(point.count);
  }
  constexpr std::array kNames{"time", "psn", "frame", "kind", "requester", "count"};
  OrderedJson json;
  for (std::size_t i = 0; i < columns.size(); ++i) json[kNames[i]] = std::move(columns[i]);
  return json;
}

// Returns where packets are not among the points: begin, end, and how many they are.
OrderedJson breaks_json(const std::vector<PsnPoint>& points, std::int64_t start_ns) {
  OrderedJson breaks = OrderedJson::array();
  const PsnPoint* before = nullptr;
  for (const PsnPoint& point : points) {
    if (before != nullptr && point.number > before->number + 1) {
      breaks.push_back({before->time_ns - start_ns, point.time_ns - start_ns, point.number - before->number - 1});
    }
    if (before == nullptr || point.number > before->number) before = &point;
  }
  return breaks;
}

OrderedJson under_way_json(const LevelCurve* curve, std::int64_t start_ns) {
  if (curve == nullptr) return nullptr;
  OrderedJson low = OrderedJson::array();
  OrderedJson high = OrderedJson::array();
  for (const LevelCurve::Interval& interval : curve->intervals()) {
    low.push_back(interval.low);
    high.push_back(interval.high);
  }
  return OrderedJson{{"start_ns", curve->start_ns() - start_ns},
                     {"width_ns", curve->width_ns()},
                     {"low", std::move(low)},
                     {"high", std::move(high)}};
}

OrderedJson curve_json(const CongestionCurve* curve, std::int64_t start_ns) {
  if (curve == nullptr) return nullptr;
  std::array<OrderedJson, 3> columns;
  columns.fill(OrderedJson::array());
  for (const CongestionCurve::Interval& interval : curve->intervals()) {
    columns[0].push_back(interval.bytes);
    columns[1].push_back(interval.marks);
    columns[2].push_back(interval.cnps);
  }
  return OrderedJson{{"start_ns", curve->start_ns() - start_ns},
                     {"width_ns", curve->width_ns()},
                     {"bytes", std::move(columns[0])},
                     {"marks", std::move(columns[1])},
                     {"cnps", std::move(columns[2])}};
}

// Of an even number of values the higher one of the two in the middle.
template <typename Value>
OrderedJson median_json(std::vector<Value> values) {
  if (values.empty()) return nullptr;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <typename Row, typename Value>
OrderedJson median_json(const std::vector<Row>& rows, Value value) {
  std::vector<std::invoke_result_t<Value, const Row&>> values;
  std::ranges::transform(rows, std::back_inserter(values), value);
  return median_json(std::move(values));
}

std::int64_t whole(double bits_per_second) {
  return std::llround(bits_per_second);
}

// `fit` as `CongestedRow` of the page has it. Steps are there for what is drawn.
OrderedJson fit_json(const analysis::RateFit* fit, bool is_drawn, std::int64_t start_ns) {
  if (fit == nullptr || fit->cnps() == 0) return nullptr;
  using analysis::RateCut;
  using analysis::RateRise;
  OrderedJson steps = OrderedJson::array();
  const auto add_step = [&](const analysis::RateStep& step) {
    steps.push_back({step.begin.time_since_epoch().count() - start_ns, whole(step.bits_per_second)});
  };
  if (is_drawn) {
    std::ranges::for_each(fit->steps(), add_step);
    if (const auto last = fit->last_step(); last && fit->steps().size() < analysis::RateFit::kMostSteps)
      add_step(*last);
  }
  return OrderedJson{
      {"cnps", fit->cnps()},
      {"cnps_without_cut", fit->cnps_without_cut()},
      {"cuts", fit->cuts().size()},
      {"late_ns", median_json(fit->cuts(), [](const RateCut& cut) { return cut.late.count(); })},
      {"left", median_json(fit->cuts(), [](const RateCut& cut) { return cut.left; })},
      {"rises", fit->rises().size()},
      {"rise_since_ns", median_json(fit->rises(), [](const RateRise& rise) { return rise.since.count(); })},
      {"rise_bits_per_second",
       median_json(fit->rises(), [](const RateRise& rise) { return whole(rise.bits_per_second); })},
      {"steps", std::move(steps)}};
}

std::string host_text(const Gid& host, const Names& names) {
  const std::string_view name = names.find(host);
  return name.empty() ? to_string(host) : std::string{name};
}

}  // namespace

OrderedJson psn_json(const SummaryView& view, const ReportSeries& series) {
  OrderedJson json;
  OrderedJson kinds = OrderedJson::array();
  for (unsigned kind = 0; kind < kPsnKinds; ++kind) {
    kinds.push_back(to_string(static_cast<PsnKind>(kind)));
  }
  json["kinds"] = std::move(kinds);
  OrderedJson graphs = OrderedJson::array();
  for (const analysis::StreamSummary* stream : view.summary.worst) {
    if (graphs.size() == kGraphs) break;
    const std::vector<PsnPoint> points = series.psns().points(stream->stream);
    if (points.empty()) continue;
    OrderedJson graph;
    graph["stream"] = stream->stream;
    graph["ends"] = ends_text(*stream, view.names, text::Charset::utf8);
    graph["hosts"] = {host_text(stream->ends[0], view.names), host_text(stream->ends[1], view.names)};
    graph["packets"] = series.psns().packets(stream->stream);
    graph["points"] = points_json(points, series.start_ns());
    graph["breaks"] = breaks_json(points, series.start_ns());
    graph["under_way"] = {under_way_json(series.under_way().curve(stream->stream, 0), series.start_ns()),
                          under_way_json(series.under_way().curve(stream->stream, 1), series.start_ns())};
    graphs.push_back(std::move(graph));
  }
  json["graphs"] = std::move(graphs);
  return json;
}

OrderedJson slowest_json(const SummaryView& view, const ReportSeries& series) {
  const std::vector<MessageStory> slowest = series.slowest();
  StreamEnds ends;
  for (const analysis::StreamSummary& stream : view.result.streams) {
    const auto is_of = [&](const MessageStory& story) { return story.message.stream == stream.stream; };
    if (std::ranges::any_of(slowest, is_of)) ends.learn(stream);
  }
  const SeenFiles files{view.result.files};
  const MessagePlaces places{ends, files, view.names, text::Charset::utf8, view.result.counts.first_ns};
  OrderedJson rows = OrderedJson::array();
  for (const MessageStory& story : slowest) {
    OrderedJson row;
    row["message"] = message_json(story.message, places);
    const std::array<Gid, 2> hosts = ends.ends(story.message.stream, 0);
    row["hosts"] = {host_text(hosts[0], view.names), host_text(hosts[1], view.names)};
    row["direction"] = story.message.direction;
    row["start_ns"] = story.message.start.time_since_epoch().count() - series.start_ns();
    row["first_psn"] = story.first_psn;
    row["points"] = points_json(story.packets, series.start_ns());
    OrderedJson breaks = OrderedJson::array();
    for (const MessageStory::Break& each : story.breaks) breaks.push_back({each.frame, each.packets});
    row["breaks"] = std::move(breaks);
    rows.push_back(std::move(row));
  }
  return rows;
}

OrderedJson congestion_views_json(const SummaryView& view, const ReportSeries& series) {
  struct Congested {
    const analysis::StreamSummary* stream = nullptr;
    const analysis::CongestionSummary* congestion = nullptr;
  };
  std::vector<Congested> all;
  for (const analysis::StreamSummary& stream : view.result.streams) {
    for (const analysis::CongestionSummary& each : stream.congestion) all.push_back({&stream, &each});
  }
  std::ranges::stable_sort(all, std::ranges::greater{},
                           [](const Congested& each) { return each.congestion->marks + each.congestion->cnps; });
  OrderedJson rows = OrderedJson::array();
  std::size_t drawn = 0;
  std::size_t without_curve = 0;
  for (const Congested& each : all) {
    if (rows.size() == kCongested) break;
    const std::uint8_t from = each.congestion->direction;
    OrderedJson row;
    row["stream"] = each.stream->stream;
    row["hosts"] = {host_text(each.stream->ends[from], view.names), host_text(each.stream->ends[1 - from], view.names)};
    row["congestion"] = congestion_json(*each.congestion);
    const CongestionCurve* const curve = series.congestion().curve(each.stream->stream, from);
    const bool is_drawn = curve != nullptr && drawn < kGraphs;
    row["curve"] = curve_json(is_drawn ? curve : nullptr, series.start_ns());
    row["fit"] = fit_json(series.congestion().fit(each.stream->stream, from), is_drawn, series.start_ns());
    rows.push_back(std::move(row));
    drawn += is_drawn ? 1 : 0;
    without_curve += curve == nullptr ? 1 : 0;
  }
  return OrderedJson{
      {"left_out", all.size() - rows.size()}, {"without_curve", without_curve}, {"rows", std::move(rows)}};
}

OrderedJson latency_curves_json(const ReportSeries& series) {
  OrderedJson json;
  json["shares"] = kShares;
  OrderedJson curves = OrderedJson::array();
  for (std::size_t type = 0; type < series.latencies().size(); ++type) {
    const analysis::Histogram& latency = series.latencies()[type];
    if (latency.count() == 0) continue;
    OrderedJson curve;
    curve["type"] = to_string(static_cast<analysis::MessageType>(type));
    curve["latency"] = latency_json(latency);
    OrderedJson values = OrderedJson::array();
    for (const double share : kShares) {
      values.push_back(share == 0 ? latency.min().count() : latency.quantile(share).count());
    }
    curve["ns"] = std::move(values);
    curves.push_back(std::move(curve));
  }
  json["curves"] = std::move(curves);
  return json;
}

OrderedJson hosts_json(const SummaryView& view) {
  OrderedJson names = OrderedJson::array();
  std::map<std::string, std::size_t> numbers;
  const auto number = [&](const Gid& host) {
    const auto [place, is_new] = numbers.emplace(to_string(host), names.size());
    if (is_new) names.push_back(host_text(host, view.names));
    return place->second;
  };
  OrderedJson pairs = OrderedJson::array();
  for (const HostPair& pair : host_pairs(view.result, kPairs)) {
    OrderedJson row;
    row["from"] = number(pair.from);
    row["to"] = number(pair.to);
    row["streams"] = pair.streams;
    row["bytes"] = pair.bytes;
    row["goodput_bytes"] = pair.goodput;
    row["lost"] = pair.lost;
    row["resent"] = pair.resent;
    row["p99_ns"] = pair.latency.count() == 0 ? OrderedJson{} : OrderedJson(pair.latency.quantile(0.99).count());
    pairs.push_back(std::move(row));
  }
  return OrderedJson{{"names", std::move(names)}, {"pairs", std::move(pairs)}};
}

OrderedJson pauses_json(const SummaryView& view, const ReportSeries& series) {
  OrderedJson rows = OrderedJson::array();
  for (const analysis::PauseSummary& pause : view.result.pauses) rows.push_back(pause_json(pause, view.result.points));
  OrderedJson spans = OrderedJson::array();
  for (const PauseSpan& span : series.pauses().spans()) {
    spans.push_back(
        {to_string(span.station), span.priority, span.begin_ns - series.start_ns(), span.end_ns - series.start_ns()});
  }
  return OrderedJson{
      {"stations", std::move(rows)}, {"spans", std::move(spans)}, {"left_out", series.pauses().not_kept()}};
}

}  // namespace roce::analyze
