// SPDX-License-Identifier: BSD-2-Clause
// The data of the page of a run.
#include "page/run_page.h"

#include <array>
#include <nlohmann/json.hpp>

namespace roce::page {

namespace {

using Json = nlohmann::ordered_json;

std::string_view to_string(Tone tone) {
  constexpr std::array<std::string_view, 3> kNames{"note", "warning", "error"};
  return kNames[static_cast<std::size_t>(tone)];
}

std::string_view to_string(Form form) {
  constexpr std::array<std::string_view, 7> kNames{"text", "count", "bad", "bytes", "ns", "bps", "ratio"};
  return kNames[static_cast<std::size_t>(form)];
}

Json table_json(const RunTable& table) {
  Json json{{"id", table.id}, {"title", table.title}, {"hint", table.hint}};
  json["columns"] = Json::array();
  json["kinds"] = Json::array();
  for (const RunColumn& column : table.columns) {
    json["columns"].push_back(column.name);
    json["kinds"].push_back(to_string(column.form));
  }
  json["rows"] = table.rows;
  return json;
}

/// Returns a time at one of the shares.
std::int64_t at(const RunTimes& times, double share) {
  for (std::size_t i = 0; i < times.ns.size(); ++i) {
    if (time_shares()[i] >= share) return times.ns[i];
  }
  return 0;
}

Json times_json(const RunPage& page) {
  Json json{{"kind", page.kind}, {"what", page.what}, {"shares", time_shares()}};
  json["curves"] = Json::array();
  for (const RunTimes& times : page.times) {
    if (times.count == 0) continue;
    Json figures{{"count", times.count}};
    for (const auto& [name, share] : {std::pair{"min_ns", 0.0},
                                      {"p50_ns", 0.5},
                                      {"p90_ns", 0.9},
                                      {"p99_ns", 0.99},
                                      {"p999_ns", 0.999},
                                      {"max_ns", 1.0}}) {
      figures[name] = at(times, share);
    }
    json["curves"].push_back({{"type", times.kind}, {"latency", std::move(figures)}, {"ns", times.ns}});
  }
  return json;
}

}  // namespace

const std::vector<double>& time_shares() {
  static const std::vector<double> kShares{0.0, 0.1,  0.2,  0.3,  0.4,   0.5,   0.6,    0.7,    0.8,
                                           0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0};
  return kShares;
}

std::string run_json(const RunPage& page, Pyramid* timeline, std::span<const SeriesInfo> series,
                     std::string_view start) {
  Json json{{"program", page.program},          {"title", page.title},         {"verdict", page.verdict},
            {"severity", to_string(page.tone)}, {"statements", Json::array()}, {"facts", page.facts}};
  for (const auto& [tone, text] : page.statements) {
    json["statements"].push_back({{"severity", to_string(tone)}, {"text", text}});
  }
  json["times"] = times_json(page);
  json["tables"] = Json::array();
  for (const RunTable& table : page.tables) json["tables"].push_back(table_json(table));
  // Names that users give may be no UTF-8.
  const auto text_of = [](const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string text = text_of(json);
  text.pop_back();
  text += R"(,"timeline":)";
  if (timeline == nullptr) return text + "null}\n";
  text += R"({"start":)" + text_of(Json(start)) + ',';
  append_timeline(text, *timeline, series, series.size());
  return text + "}}\n";
}

}  // namespace roce::page
