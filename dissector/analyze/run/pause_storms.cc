// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/pause_storms.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analyze/run/undelivered.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::PauseCounts;
using analysis::PauseSummary;
using analysis::Severity;

/// The detection time of switches' watchdogs (SONiC's default).
constexpr Duration kStorm = std::chrono::milliseconds{200};
constexpr std::size_t kMost = 3;

Statement statement_of(const AnalysisResult& result, const PauseSummary& station, std::size_t priority) {
  const PauseCounts& counts = station.counts[priority];
  const bool is_all = priority == PauseSummary::kAll;
  const std::string what = is_all ? "all priorities (PAUSE)" : fmt::format("priority {} (PFC)", priority);
  const std::uint64_t lost = result.verdicts.losses.total();
  const std::string at =
      result.points.size() > 1 ? fmt::format("at {}: ", result.points[station.point].name) : std::string{};
  Statement statement{
      Severity::error,
      fmt::format("{}{} storm: {} stopped {} for {} without a break, from {} on ({}){}: no congestion lasts so long; "
                  "look at this station, its receive path and its firmware, and at the watchdog of its switch",
                  at, is_all ? "PAUSE" : "PFC", to_string(station.source), what,
                  text::duration_text(counts.longest_run.count()), run_seconds(result, counts.run_begin),
                  text::counted(counts.frames_of_run, "XOFF", "XOFFs"),
                  lost == 0 ? "" : fmt::format("; {} lost", text::counted(lost, "packet was", "packets were"))),
      "pfc_storm",
      {}};
  statement.facts = {{"station", to_string(station.source)},
                     {"priority", is_all ? std::string{"all"} : fmt::format("{}", priority)},
                     {"since_ns", run_ns(result, counts.run_begin)},
                     {"duration_ns", std::int64_t{counts.longest_run.count()}},
                     {"xoffs", counts.frames_of_run},
                     {"lost", lost}};
  return statement;
}

}  // namespace

std::vector<Statement> statements_about_storms(const AnalysisResult& result) {
  struct Storm {
    const PauseSummary* station = nullptr;
    std::size_t priority = 0;
    Duration length{};
  };
  std::vector<Storm> storms;
  for (const PauseSummary& station : result.pauses) {
    for (std::size_t priority = 0; priority < station.counts.size(); ++priority) {
      const Duration length = station.counts[priority].longest_run;
      if (length >= kStorm) storms.push_back({&station, priority, length});
    }
  }
  std::ranges::stable_sort(storms, std::ranges::greater{}, &Storm::length);
  std::vector<Statement> statements;
  for (std::size_t i = 0; i < std::min(storms.size(), kMost); ++i) {
    statements.push_back(statement_of(result, *storms[i].station, storms[i].priority));
  }
  return statements;
}

}  // namespace roce::analyze
