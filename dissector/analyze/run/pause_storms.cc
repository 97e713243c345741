// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/pause_storms.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "analyze/run/run_time.h"
#include "roce/wire/mac_control.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::PauseCounts;
using analysis::PauseRun;
using analysis::PauseSummary;
using analysis::Severity;

/// The detection time of switches' watchdogs (SONiC's default).
constexpr Duration kStorm = std::chrono::milliseconds{200};
/// As the longest stall of a connection that is named.
constexpr Duration kLong = std::chrono::milliseconds{1};
constexpr std::size_t kMost = 3;

struct Storm {
  const PauseSummary* station = nullptr;
  std::size_t priority = 0;
  bool is_sure = false;  ///< whatever the speed of the link is
  PauseRun run{};

  [[nodiscard]] bool is_storm() const { return run.length >= kStorm; }
};

std::string station_text(const PauseSummary& station) {
  const std::string address = to_string(station.source);
  if (station.host) return fmt::format("{} ({})", to_string(*station.host), address);
  return station.has_several ? fmt::format("{} (a router, by its packets)", address) : address;
}

Statement statement_of(const AnalysisResult& result, const Storm& storm) {
  const bool is_all = storm.priority == PauseSummary::kAll;
  const std::string what = is_all ? "all priorities (PAUSE)" : fmt::format("priority {} (PFC)", storm.priority);
  const std::string at =
      result.points.size() > 1 ? fmt::format("at {}: ", result.points[storm.station->point].name) : std::string{};
  const char* const kind = is_all ? "PAUSE" : "PFC";
  const std::string name = !storm.is_storm() ? fmt::format("long {} pause", kind)
                           : storm.is_sure   ? fmt::format("{} storm", kind)
                                             : fmt::format("{} storm, if the link has 10 Gbit/s", kind);
  const char* const advice = !storm.is_storm()
                                 ? "it could not take what came for it; see who sent to it then, and what "
                                   "kept it from taking more"
                             : storm.is_sure ? "no congestion lasts so long; look at this station, its receive path "
                                               "and its firmware, and at the watchdog of its switch"
                                             : "on a faster link it may have been shorter; give --link-speed";
  Statement statement{
      storm.is_storm() && storm.is_sure ? Severity::error : Severity::warning,
      fmt::format("{}{}: {} stopped {} for {} without a break, from {} on ({}): {}", at, name,
                  station_text(*storm.station), what, text::duration_text(storm.run.length.count()),
                  run_seconds(result, storm.run.begin), text::counted(storm.run.frames, "XOFF", "XOFFs"), advice),
      storm.is_storm() ? "pfc_storm" : "long_pause",
      {}};
  statement.facts = {{"station", to_string(storm.station->source)},
                     {"priority", is_all ? std::string{"all"} : fmt::format("{}", storm.priority)},
                     {"since_ns", run_ns(result, storm.run.begin)},
                     {"duration_ns", std::int64_t{storm.run.length.count()}},
                     {"xoffs", storm.run.frames}};
  if (const FramePlace first = find_frame(result.files, storm.run.first.frame); first.file != nullptr) {
    statement.facts.push_back({"first_frame", first.number});
    statement.facts.push_back({"file", first.file->path});
  }
  statement.facts.push_back(
      {"filter", fmt::format("eth.src == {} && macc.opcode == {:#06x}", to_string(storm.station->source),
                             static_cast<std::uint16_t>(is_all ? MacControlOpcode::pause : MacControlOpcode::pfc))});
  if (storm.station->host) statement.facts.push_back({"host", to_string(*storm.station->host)});
  return statement;
}

}  // namespace

PauseStorms find_storms(const AnalysisResult& result) {
  std::vector<Storm> storms;
  std::optional<Storm> longest;
  PauseStorms found;
  for (const PauseSummary& station : result.pauses) {
    for (std::size_t priority = 0; priority < station.counts.size(); ++priority) {
      const PauseCounts& counts = station.counts[priority];
      const bool is_sure = counts.sure_run.length >= kStorm;
      if (is_sure || counts.longest_run.length >= kStorm) {
        storms.push_back({&station, priority, is_sure, is_sure ? counts.sure_run : counts.longest_run});
        found.points.insert(station.point);
      } else if (counts.sure_run.length >= kLong && (!longest || counts.sure_run.length > longest->run.length)) {
        longest = Storm{&station, priority, true, counts.sure_run};
      }
    }
  }
  std::ranges::stable_sort(storms, std::ranges::greater{}, [](const Storm& storm) {
    return std::pair{storm.is_sure, storm.run.length};
  });
  storms.resize(std::min(storms.size(), kMost));
  if (storms.empty() && longest) {
    storms.push_back(*longest);
    found.points.insert(longest->station->point);
  }
  for (const Storm& storm : storms) found.statements.push_back(statement_of(result, storm));
  return found;
}

}  // namespace roce::analyze
