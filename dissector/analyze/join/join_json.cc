// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyze/join/join_format.h"
#include "analyze/report/json_values.h"

namespace roce::analyze {

namespace {

OrderedJson optional_json(const auto& value) {
  return value ? OrderedJson(*value) : OrderedJson{};
}

OrderedJson summary_json(const WaySummary& way) {
  OrderedJson json;
  json["first"] = way.first;
  json["second"] = way.second;
  json["matched"] = way.matched;
  for (std::size_t i = 0; i < kFates; ++i) {
    const auto fate = static_cast<Fate>(i);
    if (fate != Fate::not_judged) json[std::string{to_string(fate)}] = way.count(fate);
  }
  json["not_judged_first"] = way.not_judged_first;
  json["not_judged_second"] = way.not_judged_second;
  json["bad_at_first"] = way.bad_at_first;
  json["dscp_changed"] = way.dscp_changed;
  json["priority_changed"] = way.priority_changed;
  json["vlan_changed"] = way.vlan_changed;
  json["hops_min"] = optional_json(way.least_hops);
  json["hops_max"] = optional_json(way.most_hops);
  json["delay"] = latency_json(way.delay);
  return json;
}

OrderedJson side_json(const JoinSide& side, const AnalysisResult& read) {
  OrderedJson json;
  OrderedJson files = OrderedJson::array();
  std::uint64_t dropped = 0;
  for (const CaptureFile& file : read.files) {
    files.push_back(file.path);
    dropped += file.dropped();
  }
  json["files"] = std::move(files);
  json["complete"] = read.is_complete();
  json["frames"] = read.counts.frames;
  json["roce_packets"] = side.packets.size();
  json["start"] = read.counts.first_ns ? OrderedJson(utc_text(side.first_ns)) : OrderedJson{};
  json["duration_ns"] = side.last_ns - side.first_ns;
  json["dropped"] = dropped;
  return json;
}

OrderedJson clock_json(const ClockModel& clock) {
  OrderedJson json;
  json["offset_ns"] = optional_json(clock.offset_ns);
  const bool is_estimated = clock.offset_ns && !clock.is_given;
  json["uncertainty_ns"] = is_estimated ? OrderedJson(clock.uncertainty_ns) : OrderedJson{};
  json["given"] = clock.is_given;
  json["contradictory"] = clock.is_contradictory;
  json["reference"] = utc_text(clock.reference_ns);
  json["drift_ppm"] = clock.drift ? OrderedJson(*clock.drift * 1e6) : OrderedJson{};
  json["delays"] = clock.offset_ns ? "absolute" : "since_smallest";
  return json;
}

OrderedJson stream_number(std::uint32_t stream) {
  return stream == analysis::kNoStream ? OrderedJson{} : OrderedJson(stream);
}

}  // namespace

void append_join_json(text::TextBuffer& out, const JoinView& view) {
  const JoinResult& result = view.result;
  OrderedJson json;
  json["verdict"] = join_headline(view, text::Charset::ascii);
  json["a"] = side_json(view.a, view.read_a);
  json["b"] = side_json(view.b, view.read_b);
  json["matched_by_icrc"] = result.match.by_icrc;
  json["clock"] = clock_json(result.clock);
  OrderedJson ways;
  for (const Way way : {Way::a_to_b, Way::b_to_a, Way::unknown}) {
    ways[std::string{to_string(way)}] = summary_json(result.way(way));
  }
  json["ways"] = std::move(ways);
  OrderedJson flows = OrderedJson::array();
  const std::size_t shown = view.top == 0 ? result.flows.size() : std::min(view.top, result.flows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SeenFlow& flow = view.flows.flows()[result.flows[i].flow];
    OrderedJson row;
    row["stream_a"] = stream_number(flow.stream);
    row["stream_b"] = stream_number(flow.stream_b);
    row["source"] = to_string(flow.source);
    row["destination"] = to_string(flow.destination);
    row["dest_qp"] = flow.dest_qp.value();
    row["way"] = to_string(result.flows[i].way);
    row["way_known_from"] = to_string(result.clock.legs[flow.leg].basis);
    row.update(summary_json(result.flows[i].summary));
    flows.push_back(std::move(row));
  }
  json["flows"] = std::move(flows);
  json["flow_count"] = result.flows.size();
  json["caveats"] = join_caveats(view, text::Charset::ascii);
  text::append(out, json_line(json));
}

}  // namespace roce::analyze
