// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/report/json_values.h"
#include "analyze/report/summary_format.h"
#include "analyze/run/run_time.h"

namespace roce::analyze {

namespace {

OrderedJson file_json(const CaptureFile& file) {
  OrderedJson json;
  json["file"] = file.path;
  json["format"] = file.format;
  json["frames"] = file.frames;
  json["dropped_interface"] = file.dropped_interface;
  json["dropped_os"] = file.dropped_os;
  json["dropped_between"] = file.dropped_between;
  json["complete"] = !file.is_damaged;
  json["problems"] = file.problems;
  return json;
}

OrderedJson counts_json(const CaptureCounts& counts) {
  OrderedJson json;
  json["frames"] = counts.frames;
  json["bytes"] = counts.bytes;
  json["first"] = counts.first_ns ? OrderedJson(utc_text(*counts.first_ns)) : OrderedJson{};
  json["last"] = counts.last_ns ? OrderedJson(utc_text(*counts.last_ns)) : OrderedJson{};
  json["outside_window"] = counts.outside_window;
  json["roce_frames"] = counts.roce_frames;
  json["roce_packets"] = counts.roce_packets;
  json["super_frames"] = counts.super_frames;
  json["pause_frames"] = counts.pause_frames;
  OrderedJson versions = OrderedJson::object();
  for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    versions[std::string{to_string(version)}] = counts.versions[static_cast<std::size_t>(version)];
  }
  json["versions"] = std::move(versions);
  json["icrc_good"] = counts.icrc_good;
  json["icrc_bad"] = counts.icrc_bad;
  json["icrc_not_checked"] = counts.unchecked();
  json["cut_short"] = counts.cut_short;
  json["malformed"] = counts.malformed;
  json["unknown_link_type"] = counts.unknown_link;
  json["without_time"] = counts.without_time;
  json["clock_backwards"] = counts.clock_backwards;
  return json;
}

OrderedJson finding_json(const Finding& finding, const AnalysisResult& result) {
  OrderedJson json;
  json["verdict"] = finding.info->name;
  if (finding.point) json["point"] = result.points[*finding.point].name;
  json["severity"] = severity_text(finding.info->severity);
  json["count"] = finding.count;
  json["packets"] = finding.packets;
  json["streams"] = finding.streams;
  OrderedJson worst = OrderedJson::array();
  for (const Finding::Share& share : finding.worst) {
    worst.push_back(OrderedJson{{"stream", share.stream}, {"count", share.count}});
  }
  json["worst"] = std::move(worst);
  json["first_frame"] = finding.first.file == nullptr ? OrderedJson{} : OrderedJson(finding.first.number);
  json["file"] = finding.first.file == nullptr ? OrderedJson{} : OrderedJson(finding.first.file->path);
  json["first_ns"] = run_ns(result, finding.begin);
  json["last_ns"] = run_ns(result, finding.end);
  json["text"] = finding.info->text;
  json["advice"] = finding.advice;
  return json;
}

OrderedJson statement_json(const Statement& statement) {
  OrderedJson json{{"severity", severity_text(statement.severity)}, {"text", statement.text}};
  if (statement.cause.empty()) return json;
  json["cause"] = statement.cause;
  OrderedJson facts = OrderedJson::object();
  for (const StatementFact& fact : statement.facts) {
    std::visit([&](const auto& value) { facts[std::string{fact.name}] = value; }, fact.value);
  }
  json["facts"] = std::move(facts);
  return json;
}

OrderedJson crossing_json(const Crossing& crossing, const std::vector<CapturePoint>& points) {
  OrderedJson json;
  json["from"] = points[crossing.from].name;
  json["to"] = points[crossing.to].name;
  json["packets"] = crossing.packets;
  json["matched"] = crossing.matched;
  json["lost"] = crossing.lost;
  json["damaged"] = crossing.damaged;
  json["duplicated"] = crossing.duplicated;
  json["reordered"] = crossing.reordered;
  json["missed"] = crossing.missed;
  json["not_judged"] = crossing.not_judged;
  json["delay_p50_ns"] = crossing.delay_p50 ? OrderedJson(crossing.delay_p50->count()) : OrderedJson{};
  return json;
}

OrderedJson points_json(const AnalysisResult& result, const Summary& summary) {
  OrderedJson all = OrderedJson::array();
  for (const std::uint16_t point : summary.points) {
    OrderedJson json;
    json["name"] = result.points[point].name;
    json["frames"] = result.points[point].frames;
    if (point < result.point_verdicts.size()) {
      const LossPlaces& lost = result.point_verdicts[point].losses;
      json["lost"] = OrderedJson{{"before", lost.before}, {"after", lost.after}, {"beyond", lost.beyond}};
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace

OrderedJson summary_json(const SummaryView& view) {
  const Summary& summary = view.summary;
  OrderedJson json;
  json["verdict"] = summary.statements.front().text;
  json["clean"] = summary.is_clean;
  OrderedJson statements = OrderedJson::array();
  for (const Statement& statement : summary.statements) {
    statements.push_back(statement_json(statement));
  }
  json["statements"] = std::move(statements);
  json["lost"] = OrderedJson{
      {"before", summary.losses.before}, {"after", summary.losses.after}, {"beyond", summary.losses.beyond}};
  OrderedJson findings = OrderedJson::array();
  for (const Finding& finding : summary.findings) {
    findings.push_back(finding_json(finding, view.result));
  }
  json["findings"] = std::move(findings);
  if (!summary.joined.crossings.empty()) {
    json["crossings"] = OrderedJson::array();
    for (const Crossing& crossing : summary.joined.crossings) {
      json["crossings"].push_back(crossing_json(crossing, view.result.points));
    }
  }
  json["hosts"] = summary.hosts;
  json["connections"] = summary.connections;
  json["points"] = points_json(view.result, summary);
  json["datagram_flows"] = summary.datagram_flows;
  OrderedJson streams = OrderedJson::array();
  const std::size_t shown = view.top == 0 ? summary.worst.size() : std::min(view.top, summary.worst.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::StreamSummary& stream = *summary.worst[i];
    OrderedJson row = stream_json(stream, view.names, view.result.points);
    const LossPlaces lost = view.result.verdicts.lost_of(stream.stream);
    row["lost"] = OrderedJson{{"before", lost.before}, {"after", lost.after}, {"beyond", lost.beyond}};
    streams.push_back(std::move(row));
  }
  json["worst_streams"] = std::move(streams);
  OrderedJson pauses = OrderedJson::array();
  for (const analysis::PauseSummary& pause : view.result.pauses)
    pauses.push_back(pause_json(pause, view.result.points));
  json["pauses"] = std::move(pauses);
  OrderedJson capture = counts_json(view.result.counts);
  OrderedJson files = OrderedJson::array();
  for (const CaptureFile& file : view.result.files) files.push_back(file_json(file));
  capture["files"] = std::move(files);
  capture["lacks"] = summary.lacks;
  json["capture"] = std::move(capture);
  if (const std::optional<CaptureSample>& sample = view.result.sample) {
    json["sample"] = OrderedJson{{"frames", sample->frames}, {"bytes", sample->bytes}, {"of_bytes", sample->of_bytes}};
  }
  if (const std::optional<std::uint64_t>& passed_over = view.result.streams_passed_over) {
    json["streams_passed_over"] = *passed_over;
  }
  json["evicted_streams"] = view.result.evictions.streams;
  json["unlisted_streams"] = view.result.streams_unlisted;
  json["evicted_requests"] = view.result.evictions.requests;
  return json;
}

void append_summary_json(text::TextBuffer& out, const SummaryView& view) {
  text::append(out, json_line(summary_json(view)));
}

}  // namespace roce::analyze
