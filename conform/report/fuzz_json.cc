// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/fuzz_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "packet_text/time_text.h"
#include "text/text_buffer.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const FuzzSummary& summary) {
  Json json;
  json["programs"] = summary.programs;
  json["frames"] = summary.frames;
  json["signatures"] = summary.signatures;
  json["corpus"] = summary.corpus;
  json["states"] = summary.states;
  json["possible_states"] = summary.possible_states;
  json["damaged_files"] = summary.damaged_files;
  json["recoveries"] = summary.recoveries;
  json["left_out"] = summary.left_out;
  return json;
}

/// Returns how many findings each judge has, those without one too.
Json oracles_json(const FuzzSummary& summary) {
  Json json;
  for (const std::string& oracle : summary.oracles) {
    json[oracle] = std::ranges::count(summary.findings, oracle, &FuzzFinding::oracle);
  }
  return json;
}

Json finding_json(const FuzzFinding& finding) {
  Json json;
  json["case"] = finding.name;
  json["oracle"] = finding.oracle;
  json["what"] = finding.what;
  json["place"] = finding.place;
  json["times"] = finding.times;
  json["shown"] = finding.shown;
  json["repeats"] = finding.repeats;
  json["actions"] = finding.actions;
  return json;
}

}  // namespace

std::string to_json(const FuzzSummary& summary) {
  text::TextBuffer started;
  constexpr unsigned digits = 9;
  packet_text::UtcText{}.append(started, summary.started_ns, digits);
  Json json;
  json["format"] = kFuzzFormat;
  json["program"] = summary.program;
  json["started"] = std::string{started.data(), started.size()};
  json["device"] = summary.device;
  json["seed"] = summary.seed;
  json["seconds"] = summary.seconds;
  json["quiet_seconds"] = summary.quiet_seconds;
  json["ended"] = summary.ended;
  json["counts"] = counts_json(summary);
  json["oracles"] = oracles_json(summary);
  json["findings"] = Json::array();
  for (const FuzzFinding& finding : summary.findings) json["findings"].push_back(finding_json(finding));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace roce::conform
