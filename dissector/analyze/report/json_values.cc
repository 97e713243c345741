// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/json_values.h"

#include <nlohmann/json.hpp>

#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"
#include "packet_text/time_text.h"

namespace roce::analyze {

namespace {

using analysis::MessageType;

OrderedJson direction_json(const analysis::DirectionSummary& direction) {
  OrderedJson json;
  json["seen"] = direction.seen;
  json["packets"] = direction.packets;
  json["bytes"] = direction.bytes;
  json["request_packets"] = direction.request_packets;
  json["request_bytes"] = direction.request_bytes;
  json["response_bytes"] = direction.response_bytes;
  json["goodput_bytes"] = direction.goodput_bytes;
  OrderedJson messages = OrderedJson::object();
  for (std::size_t i = 0; i < direction.messages.size(); ++i) {
    if (direction.messages[i] != 0)
      messages[std::string{to_string(static_cast<MessageType>(i))}] = direction.messages[i];
  }
  json["messages"] = std::move(messages);
  json["messages_refused"] = direction.messages_refused;
  json["acks"] = direction.acks;
  json["ecn_capable"] = direction.ecn_capable;
  json["latency"] = latency_json(direction.latency);
  return json;
}

OrderedJson reaction_json(const analysis::CnpReaction& reaction) {
  OrderedJson json;
  json["cnps"] = reaction.cnps;
  json["slowed"] = reaction.slowed;
  if (reaction.cnps == 0) return json;
  json["bits_per_second_before"] = bits_per_second(reaction.bytes_before, reaction.time_before);
  json["bits_per_second_after"] = bits_per_second(reaction.bytes_after, reaction.time_after);
  return json;
}

OrderedJson unanswered_json(const analysis::UnansweredRequest& request) {
  OrderedJson json;
  json["direction"] = request.direction;
  json["how"] = to_string(request.how);
  json["one_way"] = request.is_one_way;
  json["opcode"] = opcode_info(request.opcode).name;
  json["psn"] = request.psn.value();
  json["tries"] = request.tries;
  json["rnr_naks"] = request.refusals;
  json["ack_timeout"] = request.ack_timeout != 0 ? OrderedJson(request.ack_timeout) : OrderedJson{};
  json["begin"] = utc_text(request.begin.time_since_epoch().count());
  json["latest"] = utc_text(request.latest.time_since_epoch().count());
  json["longest_wait_ns"] = request.wait.count();
  return json;
}

OrderedJson pause_counts_json(const analysis::PauseCounts& counts) {
  OrderedJson json;
  json["xoff"] = counts.xoff;
  json["xon"] = counts.xon;
  json["quanta"] = counts.quanta;
  json["ended_by_xon"] = counts.ended;
  json["xoff_to_xon_ns"] = counts.xoff_to_xon.count();
  json["longest_until_xon_ns"] = counts.longest_until_xon.count();
  json["paused_ns"] = counts.paused ? OrderedJson(counts.paused->count()) : OrderedJson{};
  return json;
}

}  // namespace

std::string_view severity_text(analysis::Severity severity) {
  switch (severity) {
    case analysis::Severity::error:
      return "error";
    case analysis::Severity::warning:
      return "warning";
    case analysis::Severity::note:
      break;
  }
  return "note";
}

std::string utc_text(std::int64_t ns) {
  text::TextBuffer text;
  packet_text::UtcText{}.append(text, ns, 9);
  return fmt::to_string(text);
}

OrderedJson latency_json(const analysis::Histogram& latency) {
  OrderedJson json;
  json["count"] = latency.count();
  if (latency.count() == 0) return json;
  json["min_ns"] = latency.min().count();
  json["mean_ns"] = latency.mean().count();
  json["p50_ns"] = latency.quantile(0.5).count();
  json["p90_ns"] = latency.quantile(0.9).count();
  json["p99_ns"] = latency.quantile(0.99).count();
  json["p999_ns"] = latency.quantile(0.999).count();
  json["max_ns"] = latency.max().count();
  return json;
}

OrderedJson congestion_json(const analysis::CongestionSummary& congestion) {
  OrderedJson json;
  json["direction"] = congestion.direction;
  json["marks"] = congestion.marks;
  json["cnps"] = congestion.cnps;
  json["cnps_without_mark"] = congestion.cnps_without_mark;
  json["marks_since_cnp"] = congestion.marks_since_cnp;
  json["mark_to_cnp"] = latency_json(congestion.mark_to_cnp);
  json["cnp_spacing"] = latency_json(congestion.cnp_spacing);
  json["reaction"] = reaction_json(congestion.reaction);
  return json;
}

OrderedJson stream_json(const analysis::StreamSummary& stream, const Names& names,
                        const std::vector<CapturePoint>& points) {
  OrderedJson json;
  json["stream"] = stream.stream;
  json["point"] = stream.point < points.size() ? OrderedJson(points[stream.point].name) : OrderedJson{};
  json["service"] = service_text(stream.service);
  json["version"] = to_string(stream.version);
  json["vlan"] = stream.vlan ? OrderedJson(*stream.vlan) : OrderedJson{};
  OrderedJson ends = OrderedJson::array();
  for (std::size_t i = 0; i < 2; ++i) {
    OrderedJson end;
    end["address"] = to_string(stream.ends[i]);
    const std::string_view name = names.find(stream.ends[i]);
    if (!name.empty()) end["name"] = name;
    const std::string_view qp_name = names.find(end_of(stream, i));
    if (!qp_name.empty()) end["qp_name"] = qp_name;
    end["qp"] = stream.qpns[i] ? OrderedJson(stream.qpns[i]->value()) : OrderedJson{};
    ends.push_back(std::move(end));
  }
  json["ends"] = std::move(ends);
  json["joined"] = stream.joined;
  json["had_begun"] = stream.is_open_start;
  json["path_mtu"] = stream.path_mtu != 0 ? OrderedJson(stream.path_mtu) : OrderedJson{};
  json["start"] = utc_text(stream.start.time_since_epoch().count());
  json["duration_ns"] = (stream.end - stream.start).count();
  json["goodput_bits_per_second"] = goodput(stream);
  OrderedJson directions = OrderedJson::array();
  for (const analysis::DirectionSummary& direction : stream.directions) directions.push_back(direction_json(direction));
  json["directions"] = std::move(directions);
  OrderedJson verdicts = OrderedJson::object();
  for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
    if (stream.count(info.kind) != 0) verdicts[std::string{info.name}] = stream.count(info.kind);
  }
  json["verdicts"] = std::move(verdicts);
  OrderedJson rules = OrderedJson::object();
  for (const analysis::RuleInfo& info : analysis::rule_infos()) {
    if (stream.count(info.rule) != 0) rules[std::string{info.identifier}] = stream.count(info.rule);
  }
  json["rules"] = std::move(rules);
  OrderedJson causes = OrderedJson::object();
  for (const auto& [cause, count] : stream.retransmissions.entries()) {
    causes[cause == analysis::Cause::none ? "none" : std::string{to_string(cause)}] = count;
  }
  json["retransmissions"] = std::move(causes);
  json["spurious_retransmissions"] = stream.spurious_retransmissions;
  json["lost_packets"] = stream.lost_packets;
  json["lost_psns"] = stream.lost_psns;
  json["missed_psns"] = stream.missed_psns;
  json["latency"] = latency_json(latencies(stream));
  OrderedJson congestion = OrderedJson::array();
  for (const analysis::CongestionSummary& each : stream.congestion) congestion.push_back(congestion_json(each));
  json["congestion"] = std::move(congestion);
  OrderedJson unanswered = OrderedJson::array();
  for (const analysis::UnansweredRequest& each : stream.unanswered) unanswered.push_back(unanswered_json(each));
  json["unanswered"] = std::move(unanswered);
  return json;
}

OrderedJson pause_json(const analysis::PauseSummary& pause, const std::vector<CapturePoint>& points) {
  OrderedJson json;
  if (pause.point < points.size()) json["point"] = points[pause.point].name;
  json["source"] = to_string(pause.source);
  json["host"] = pause.host ? OrderedJson(to_string(*pause.host)) : OrderedJson{};
  json["frames"] = pause.frames;
  OrderedJson priorities = OrderedJson::array();
  for (std::size_t i = 0; i < pause.counts.size(); ++i) {
    const analysis::PauseCounts& counts = pause.counts[i];
    if (counts.xoff + counts.xon == 0) continue;
    OrderedJson row;
    row["priority"] = i == analysis::PauseSummary::kAll ? OrderedJson("all") : OrderedJson(i);
    row.update(pause_counts_json(counts));
    priorities.push_back(std::move(row));
  }
  json["priorities"] = std::move(priorities);
  return json;
}

std::string json_line(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace roce::analyze
