// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/json_report.h"

#include <nlohmann/json.hpp>

#include "conform/report/tally.h"
#include "packet_text/time_text.h"
#include "text/text_buffer.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;

Json failure_json(const StepFailure& failure) {
  Json json;
  json["file"] = *failure.place.file;
  json["line"] = failure.place.line;
  json["column"] = failure.place.column;
  json["message"] = failure.what;
  json["fields"] = Json::array();
  for (const Comparison& field : failure.fields) {
    Json one;
    one["field"] = field.field;
    one["expected"] = field.expected;
    one["seen"] = field.seen;
    one["right"] = field.is_right;
    json["fields"].push_back(std::move(one));
  }
  return json;
}

Json frames_json(const std::vector<LoggedFrame>& frames) {
  Json json = Json::array();
  for (const LoggedFrame& frame : frames) {
    text::TextBuffer hex;
    text::append_hex(hex, frame.bytes);
    Json one;
    one["time"] = frame.time.time_since_epoch().count();
    one["from"] = frame.from_device ? "D" : "T";
    one["line"] = frame.line;
    one["bytes"] = std::string{hex.data(), hex.size()};
    json.push_back(std::move(one));
  }
  return json;
}

template <typename Pairs>
Json object_json(const Pairs& pairs) {
  Json json = Json::object();
  for (const auto& [name, value] : pairs) json[name] = value;
  return json;
}

Json tries_json(const std::vector<Try>& tries) {
  Json json = Json::array();
  for (const Try& run : tries) {
    Json one;
    one["result"] = to_string(run.result);
    one["alone"] = run.is_alone;
    one["counts"] = run.counts;
    one["message"] = run.what;
    json.push_back(std::move(one));
  }
  return json;
}

Json noise_json(const Noise& noise) {
  Json json;
  json["probes"] = noise.probes;
  json["lost"] = noise.lost;
  json["duplicated"] = noise.duplicated;
  json["pairs"] = noise.pairs;
  json["reordered"] = noise.reordered;
  json["median_ns"] = noise.median.count();
  json["p99_9_ns"] = noise.slowest.count();
  return json;
}

// Most instances pass: members that say nothing are left out.
Json instance_json(const InstanceRecord& instance) {
  const CaseOutcome& outcome = instance.outcome;
  Json json;
  json["name"] = instance.name;
  json["case"] = instance.of;
  json["params"] = object_json(instance.parameters);
  json["level"] = to_string(instance.level);
  json["rules"] = instance.rules;
  json["result"] = to_string(outcome.result);
  if (!outcome.because.empty()) json["because"] = outcome.because;
  if (!outcome.lacks.empty()) json["lacks"] = outcome.lacks;
  if (outcome.damage != Damage::none) json["damage"] = to_string(outcome.damage);
  if (!outcome.tries.empty()) json["tries"] = tries_json(outcome.tries);
  if (!outcome.branches.empty()) json["branches"] = outcome.branches;
  if (!outcome.saved.empty()) {
    json["saved"] = Json::array();
    for (const auto& [name, value] : outcome.saved) json["saved"].push_back(Json::array({name, value}));
  }
  if (outcome.failure) json["failure"] = failure_json(*outcome.failure);
  if (!outcome.frames.empty()) json["frames"] = frames_json(outcome.frames);
  return json;
}

Json tested_json(const Tested& tested) {
  text::TextBuffer started;
  constexpr unsigned digits = 9;
  packet_text::UtcText{}.append(started, tested.started_ns, digits);
  Json json;
  json["format"] = kResultFormat;
  json["program"] = tested.program;
  json["started"] = std::string{started.data(), started.size()};
  json["device"] = tested.device;
  json["link"] = tested.link;
  json["kind_of_device"] = tested.kind_of_device;
  json["seed"] = tested.seed;
  json["only"] = tested.only;
  json["quick"] = tested.quick;
  json["arguments"] = tested.arguments;
  if (tested.noise) json["noise"] = noise_json(*tested.noise);
  return json;
}

Json counts_json(const Tally& tally) {
  Json json;
  for (const TallyPart& part : kTallyParts) json[part.name] = tally.*part.number;
  json["passed_later"] = tally.passed_later;
  return json;
}

}  // namespace

std::string to_json(const RunResult& result) {
  Json json = tested_json(result.tested);
  json["counts"] = counts_json(count_all(result));
  json["rules"] = object_json(result.rules);
  json["cases"] = Json::object();
  for (const auto& [name, one] : result.cases) {
    json["cases"][name] = {{"title", one.title}, {"why", one.why}, {"file", one.file}};
  }
  json["results"] = Json::array();
  for (const InstanceRecord& instance : result.instances) json["results"].push_back(instance_json(instance));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace roce::conform
