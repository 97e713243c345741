// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/size_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/run/run_time.h"
#include "analyze/run/stream_figures.h"
#include "analyze/run/undelivered.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::IcmpErrorSummary;
using analysis::LargerRequests;
using analysis::Severity;
using analysis::StreamSummary;

using Way = std::tuple<std::uint16_t, Gid, Gid>;  // capture point, from, to

/// Sizes of packets from one host to another, of those that arrive and of those that do not.
struct Sizes {
  std::uint64_t arrived = 0;
  std::uint32_t largest = 0;
  Time heard = Time::min();  ///< time of the latest packet that came back
  std::uint64_t larger = 0;
  std::uint32_t least_larger = 0;
  std::uint32_t tries = 0;
  Time since = Time::max();
  Time again = Time::max();
};

std::map<Way, Sizes> find_sizes(const JudgedPart& part) {
  std::map<Way, Sizes> ways;
  const auto each_way = [&](const auto& use) {
    for (const StreamSummary& stream : part.streams) {
      if (stream.service != Service::rc) continue;
      for (std::size_t i = 0; i < 2; ++i) {
        use(ways[{stream.point, stream.ends[i], stream.ends[1 - i]}], stream.directions[i], stream.directions[1 - i]);
      }
    }
  };
  each_way([](Sizes& way, const analysis::DirectionSummary& there, const analysis::DirectionSummary& back) {
    way.arrived += there.arrived;
    way.largest = std::max<std::uint32_t>(way.largest, there.largest_arrived);
    if (back.seen) way.heard = std::max(way.heard, back.latest);
  });
  each_way([](Sizes& way, const analysis::DirectionSummary& there, const analysis::DirectionSummary& /*back*/) {
    const LargerRequests& larger = *there.larger;
    // A connection whose smaller packets do not arrive either is not about sizes.
    if (larger.tries == 0 || larger.least <= way.largest) return;
    way.least_larger = way.larger == 0 ? larger.least : std::min(way.least_larger, larger.least);
    way.larger += larger.packets;
    way.tries += larger.tries;
    way.since = std::min(way.since, larger.since);
    way.again = std::min(way.again, larger.again);
  });
  return ways;
}

bool is_too_small(const Sizes& way) {
  return way.larger >= kLeastLarger && way.tries >= kLeastTries && way.arrived >= kLeastSmaller &&
         way.heard > way.again;
}

std::uint32_t path_mtu_below(std::uint32_t payload) {
  for (const std::uint32_t mtu : {4096U, 2048U, 1024U, 512U}) {
    if (mtu < payload) return mtu;
  }
  return 256;
}

/// Returns what routers said about it.
const IcmpErrorSummary* find_error(const AnalysisResult& result, const Way& way) {
  const auto found = std::ranges::find_if(result.undelivered, [&](const IcmpErrorSummary& error) {
    return error.why == Undelivered::too_big && Way{error.point, error.source, error.destination} == way;
  });
  return found == result.undelivered.end() ? nullptr : &*found;
}

Statement statement_of(const AnalysisResult& result, const Way& way, const Sizes& sizes) {
  const auto& [point, from, to] = way;
  const IcmpErrorSummary* const error = find_error(result, way);
  const std::string advice =
      error != nullptr
          ? fmt::format("{}: {}", undelivered_text(*error), undelivered_advice(*error))
          : fmt::format(
                "a link on the way has a smaller MTU: use a path MTU of {} bytes or less, or a larger MTU on "
                "each link, switch and bond between them",
                path_mtu_below(sizes.least_larger));
  Statement statement{
      Severity::error,
      fmt::format("{} to {}: all {} with more than {} bytes of payload were lost from {} on (the smallest has {}), and "
                  "all {} with no more arrived; {}",
                  to_string(from), to_string(to), text::counted(sizes.larger, "packet", "packets"), sizes.largest,
                  run_seconds(result, sizes.since), sizes.least_larger, text::count_text(sizes.arrived), advice),
      "path_mtu",
      {}};
  statement.facts = {{"from", to_string(from)},
                     {"to", to_string(to)},
                     {"lost", sizes.larger},
                     {"smallest_lost", std::uint64_t{sizes.least_larger}},
                     {"arrived", sizes.arrived},
                     {"largest_arrived", std::uint64_t{sizes.largest}},
                     {"since_ns", run_ns(result, sizes.since)}};
  if (error != nullptr && error->mtu != 0) statement.facts.push_back({"mtu", std::uint64_t{error->mtu}});
  return statement;
}

/// Says which connections have other path MTUs in their two directions, or larger packets than was agreed.
void add_unlike(const JudgedPart& part, std::vector<Statement>& statements) {
  struct Unlike {
    const StreamSummary* first = nullptr;
    std::uint64_t connections = 0;
    bool is_refused = false;
  };
  Unlike unlike;
  Unlike beyond;
  const auto add = [](Unlike& kind, const StreamSummary& stream) {
    if (kind.connections++ == 0) kind.first = &stream;
    kind.is_refused = kind.is_refused || stream.count(analysis::VerdictKind::nak_invalid_request) != 0;
  };
  for (const StreamSummary& stream : part.streams) {
    if (!is_connected(stream)) continue;
    const std::uint32_t there = stream.directions[0].full_size;
    const std::uint32_t back = stream.directions[1].full_size;
    if (there != 0 && back != 0 && there != back) {
      add(unlike, stream);
    } else if (stream.path_mtu != 0 && std::max(there, back) > stream.path_mtu) {
      add(beyond, stream);
    }
  }
  const auto severity = [](const Unlike& kind) { return kind.is_refused ? Severity::error : Severity::note; };
  if (unlike.connections != 0) {
    const StreamSummary& first = *unlike.first;
    statements.push_back(
        {severity(unlike),
         fmt::format("{} whose two ends have different path MTUs: in stream {}, {} sends packets of {} bytes and {} of "
                     "{}; use the smaller one at both",
                     text::counted(unlike.connections, "connection", "connections"), first.stream,
                     to_string(first.ends[0]), first.directions[0].full_size, to_string(first.ends[1]),
                     first.directions[1].full_size)});
  }
  if (beyond.connections != 0) {
    const StreamSummary& first = *beyond.first;
    statements.push_back(
        {severity(beyond),
         fmt::format("{} with larger packets than their path MTU: in stream {} of {} bytes, with a path MTU of {}",
                     text::counted(beyond.connections, "connection", "connections"), first.stream,
                     std::max(first.directions[0].full_size, first.directions[1].full_size), first.path_mtu)});
  }
}

}  // namespace

std::set<std::pair<Gid, Gid>> hosts_that_lose_sizes(const JudgedPart& part) {
  std::set<std::pair<Gid, Gid>> hosts;
  for (const auto& [way, sizes] : find_sizes(part)) {
    if (is_too_small(sizes)) hosts.emplace(std::get<1>(way), std::get<2>(way));
  }
  return hosts;
}

std::vector<Statement> statements_about_sizes(const JudgedPart& part) {
  std::vector<Statement> statements;
  for (const auto& [way, sizes] : find_sizes(part)) {
    if (is_too_small(sizes)) statements.push_back(statement_of(part.result, way, sizes));
  }
  add_unlike(part, statements);
  std::ranges::stable_sort(statements, std::ranges::greater{}, &Statement::severity);
  return statements;
}

}  // namespace roce::analyze
