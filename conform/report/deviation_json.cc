// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/deviation_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "conform/report/frame_text.h"
#include "conform/report/tally.h"
#include "conform/report/tries_text.h"
#include "roce/wire/aeth.h"
#include "roce/wire/packet.h"
#include "text/text_buffer.h"

namespace roce::conform {

namespace {

using Json = nlohmann::ordered_json;

// Texts and frames together. Without its frames a deviation takes some 2 KB.
constexpr std::size_t kLongestList = std::size_t{6} << 20;
constexpr std::size_t kLongestListWithFrames = std::size_t{4} << 20;
// As many as a ladder has on the other pages.
constexpr std::size_t kMostRungs = 60;

/// Returns the kind of a frame, as ladders colour them (tools/page/web/src/packets.ts).
std::string_view rung_kind(const LoggedFrame& frame) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  if (!packet.is_roce()) return "sent";
  const Operation operation = packet.info().operation;
  if (operation == Operation::read_response) return "read_response";
  if (!packet.info().is_response()) return "sent";
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  if (aeth && aeth->syndrome.kind() == AethKind::nak) return "nak";
  if (aeth && aeth->syndrome.kind() == AethKind::rnr_nak) return "rnr_nak";
  return "answered";
}

Json rungs_json(const std::vector<LoggedFrame>& frames) {
  Json json = Json::array();
  // The deviation is at the end.
  const std::size_t first = frames.size() - std::min(frames.size(), kMostRungs);
  for (std::size_t i = first; i < frames.size(); ++i) {
    const LoggedFrame& frame = frames[i];
    text::TextBuffer words;
    append_frame_text(words, frame, {});
    json.push_back(Json::array({(frame.time - frames.front().time).count(), frame.from_device, rung_kind(frame),
                                std::string{words.data(), words.size()}, frame.line}));
  }
  return json;
}

Json rules_json(const RunResult& result, const InstanceRecord& instance) {
  Json json = Json::array();
  for (const std::string& rule : instance.rules) {
    const auto text = result.rules.find(rule);
    json.push_back(Json::array({rule, text == result.rules.end() ? std::string{} : text->second}));
  }
  return json;
}

/// Returns a deviation without its frames.
Json deviation_json(const RunResult& result, const InstanceRecord& instance) {
  const CaseOutcome& outcome = instance.outcome;
  const CaseRecord& of = result.cases.at(instance.of);
  Json json{{"instance", instance.name},
            {"verdict", part_of(instance)},
            {"level", to_string(instance.level)},
            {"title", of.title},
            {"why", of.why},
            {"rules", rules_json(result, instance)}};
  const std::optional<StepFailure>& failure = outcome.failure;
  json["place"] = failure ? to_string(failure->place) : std::string{};
  json["line"] = failure ? failure->place.line : 0;
  json["message"] = failure ? failure->what : "It passed although the device is known to fail: " + outcome.because;
  json["fields"] = Json::array();
  if (failure) {
    for (const Comparison& field : failure->fields) {
      json["fields"].push_back(
          {{"field", field.field}, {"expected", field.expected}, {"seen", field.seen}, {"right", field.is_right}});
    }
  }
  json["damage"] = outcome.damage == Damage::none ? std::string_view{} : damage_text(outcome.damage);
  json["tries"] = Json::array();
  for (const Try& run : outcome.tries) json["tries"].push_back(try_text(run));
  json["alone"] = command_for(result.tested, instance.name);
  return json;
}

// Names that others give may be no UTF-8.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

DeviationList list_deviations(const RunResult& result) {
  DeviationList list;
  list.json = "[";
  for (const InstanceRecord& instance : result.instances) {
    const CaseOutcome& outcome = instance.outcome;
    const bool deviates = outcome.result == Result::xpass || (outcome.failure && outcome.result != Result::xfail);
    if (!deviates) continue;
    if (list.json.size() > kLongestList) {
      ++list.left_out;
      continue;
    }
    Json json = deviation_json(result, instance);
    const bool has_room = list.json.size() <= kLongestListWithFrames;
    json["frames"] = has_room ? rungs_json(outcome.frames) : Json{};
    json["more_frames"] = outcome.frames.size() - std::min(outcome.frames.size(), kMostRungs);
    list.without_frames += has_room ? 0 : 1;
    if (list.json.size() > 1) list.json += ',';
    list.json += text_of(json);
  }
  list.json += ']';
  return list;
}

}  // namespace roce::conform
