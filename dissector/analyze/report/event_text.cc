// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/event_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyze/report/json_values.h"
#include "text/human_units.h"

namespace roce::analyze {

std::string event_text(const analysis::Verdict& verdict) {
  if (verdict.kind == analysis::VerdictKind::no_answer) {
    const std::string timeout = verdict.ack_timeout != 0 ? fmt::format(", ACK timeout {}", verdict.ack_timeout) : "";
    return fmt::format("{}: {} tries{}", verdict_info(verdict.kind).text, verdict.tries, timeout);
  }
  if (verdict.kind == analysis::VerdictKind::never_ready) {
    return fmt::format("{}: {} RNR NAK{}", verdict_info(verdict.kind).text, verdict.tries,
                       verdict.tries == 1 ? "" : "s");
  }
  if (verdict.kind == analysis::VerdictKind::cm_repeated) {
    return fmt::format("{}: {}, sent {} times so far", verdict_info(verdict.kind).text,
                       analysis::cm_message_name(verdict.cm_message), verdict.tries);
  }
  if (verdict.kind == analysis::VerdictKind::setup_delayed) {
    return fmt::format("{}: {}, {} in all", verdict_info(verdict.kind).text,
                       text::counted(verdict.tries, "repetition", "repetitions"),
                       text::duration_text(verdict.elapsed.count()));
  }
  if (verdict.kind != analysis::VerdictKind::rule_broken) return std::string{verdict_info(verdict.kind).text};
  const analysis::RuleInfo& rule = rule_info(verdict.rule);
  return fmt::format("breaks {}: {}", rule.identifier, rule.text);
}

std::string event_line(std::uint64_t number, const analysis::Verdict& verdict, const SeenFiles& files,
                       const SeenPoints& points) {
  const analysis::VerdictInfo& info = verdict_info(verdict.kind);
  const FramePlace place = files.find(verdict.packet.frame);
  const FramePlace other = verdict.other ? files.find(verdict.other.frame) : FramePlace{};
  OrderedJson json;
  json["verdict"] = info.name;
  json["frame"] = place.number;
  json["segment"] = verdict.packet.segment;
  json["stream"] = verdict.stream;
  json["cause"] = to_string(verdict.cause);
  json["spurious"] = verdict.spurious;
  json["first_psn"] = verdict.first_psn.value();
  json["psn_count"] = verdict.psn_count;
  json["other"] = other.number;
  json["elapsed_ns"] = verdict.elapsed.count();
  json["rule"] = rule_info(verdict.rule).identifier;
  if (verdict.tries != 0) json["tries"] = verdict.tries;
  if (verdict.cm_message != MadAttribute{}) json["cm_message"] = analysis::cm_message_name(verdict.cm_message);
  if (verdict.ack_timeout != 0) json["ack_timeout"] = verdict.ack_timeout;
  json["event"] = number;
  json["point"] = points.name(verdict.point);
  json["file"] = place.file != nullptr ? OrderedJson(place.file->path) : OrderedJson{};
  if (other.file != nullptr && place.file != nullptr && other.file->frame_base != place.file->frame_base) {
    json["other_file"] = other.file->path;
  }
  json["time"] = utc_text(verdict.time.time_since_epoch().count());
  json["severity"] = severity_text(info.severity);
  json["when"] = info.time == analysis::VerdictTime::immediate ? "immediate" : "retrospective";
  json["text"] = event_text(verdict);
  return json_line(json);
}

}  // namespace roce::analyze
