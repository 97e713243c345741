// SPDX-License-Identifier: BSD-2-Clause
// The data of a report as JSON, for the page that draws it.
#include "analyze/charts/report_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/charts/report_views.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"

namespace roce::analyze {

namespace {

using analysis::StreamSummary;
using analysis::VerdictKind;

/// Numbers of consecutive intervals; only those that are not 0, if they are few.
OrderedJson values_json(const std::vector<Bucket>& buckets, std::uint64_t Bucket::*member) {
  const auto filled = std::count_if(buckets.begin(), buckets.end(), [&](const Bucket& b) { return b.*member != 0; });
  OrderedJson values = OrderedJson::array();
  if (static_cast<std::size_t>(filled) * 3 > buckets.size()) {
    for (const Bucket& bucket : buckets) values.push_back(bucket.*member);
    return values;
  }
  OrderedJson at = OrderedJson::array();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].*member == 0) continue;
    at.push_back(i);
    values.push_back(buckets[i].*member);
  }
  return OrderedJson{{"at", std::move(at)}, {"of", std::move(values)}};
}

OrderedJson series_json(std::size_t series, const Pyramid& pyramid, const std::vector<Pyramid::Level>& levels) {
  const SeriesInfo info = series_info(series);
  OrderedJson json;
  json["name"] = info.name;
  json["measure"] = to_string(info.measure);
  json["total"] = pyramid.total(series);
  OrderedJson all = OrderedJson::array();
  for (const Pyramid::Level& level : levels) {
    const std::vector<Bucket>& buckets = level.series[series];
    OrderedJson one;
    if (info.measure == Measure::sample) {
      one["count"] = values_json(buckets, &Bucket::count);
    } else if (info.measure != Measure::level) {
      one["sum"] = values_json(buckets, &Bucket::sum);
    }
    // Where each interval is one window, the least and the highest are the sum.
    if (info.measure == Measure::sample || info.measure == Measure::level ||
        (info.measure == Measure::rate && level.width_ns > pyramid.window_ns())) {
      one["low"] = values_json(buckets, &Bucket::low);
      one["high"] = values_json(buckets, &Bucket::high);
    }
    all.push_back(std::move(one));
  }
  json["levels"] = std::move(all);
  return json;
}

OrderedJson timeline_json(ReportSeries& series) {
  Pyramid& pyramid = series.pyramid();
  const std::vector<Pyramid::Level> levels = pyramid.levels();
  OrderedJson json;
  json["start"] = utc_text(pyramid.start_ns());
  json["window_ns"] = pyramid.window_ns();
  OrderedJson axes = OrderedJson::array();
  for (const Pyramid::Level& level : levels) {
    axes.push_back(OrderedJson{{"width_ns", level.width_ns}, {"size", level.series.front().size()}});
  }
  json["levels"] = std::move(axes);
  OrderedJson all = OrderedJson::array();
  for (std::size_t i = 0; i < kAllSeries; ++i) {
    if (i < kPlainSeries || pyramid.total(i) != 0) all.push_back(series_json(i, pyramid, levels));
  }
  json["series"] = std::move(all);
  json["waits_left_out"] = series.waits().uncounted_packets();
  return json;
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
  OrderedJson json;
  json["program"] = "roce-analyze " ROCE_VERSION;
  json["live"] = is_live;
  json["summary"] = summary_json(view);
  json["timeline"] = timeline_json(series);
  json["streams"] = streams_json(view);
  json["psn"] = psn_json(view, series);
  json["slowest"] = slowest_json(view, series);
  json["latency"] = latency_curves_json(series);
  json["hosts"] = hosts_json(view);
  json["pauses"] = pauses_json(view, series);
  return json_line(json);
}

}  // namespace roce::analyze
