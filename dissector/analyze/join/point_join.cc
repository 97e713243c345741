// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/point_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "roce/analysis/histogram.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

/// The order in which flows pass two points may differ from flow to flow.
using PairOfPoints = std::pair<std::uint16_t, std::uint16_t>;

/// Comparing each point with each other would take long for more.
constexpr std::size_t kMostPairs = 64;

/// Clocks that are this far apart were not synchronised at all.
constexpr std::int64_t kClocksApart = 1'000'000'000;

/// The fate of a flow's packets from one point to another.
struct Passage {
  const WaySummary* way = nullptr;
  bool has_clock = false;  ///< the clocks of the two points can be compared
};

/// By flow, then by point of departure and of arrival.
using Passages = std::map<std::uint32_t, std::map<PairOfPoints, Passage>>;

void add(Crossing& crossing, const WaySummary& way) {
  crossing.packets += way.first - way.not_judged_first;
  crossing.matched += way.matched;
  crossing.lost += way.count(Fate::lost);
  crossing.damaged += way.count(Fate::damaged);
  crossing.duplicated += way.count(Fate::duplicated);
  crossing.reordered += way.count(Fate::reordered);
  crossing.missed += way.count(Fate::missed);
  crossing.not_judged += way.not_judged_first;
}

/// Adds up the flows from each point to the next, the worst first.
std::vector<Crossing> crossings_of(const Passages& passages) {
  std::map<PairOfPoints, std::pair<Crossing, analysis::Histogram>> sums;
  for (const auto& [flow, orders] : passages) {
    for (const auto& [order, passage] : orders) {
      // The two are neighbours if no point lies between them.
      const bool is_next = std::none_of(orders.begin(), orders.end(), [&](const auto& other) {
        return other.first.first == order.first && orders.contains({other.first.second, order.second});
      });
      if (!is_next) continue;
      auto& [crossing, delay] = sums[order];
      add(crossing, *passage.way);
      if (passage.has_clock) delay.merge(passage.way->delay);
    }
  }
  std::vector<Crossing> crossings;
  for (auto& [order, sum] : sums) {
    auto& [crossing, delay] = sum;
    std::tie(crossing.from, crossing.to) = order;
    if (delay.count() != 0) crossing.delay_p50 = delay.quantile(0.5);
    crossings.push_back(crossing);
  }
  std::stable_sort(crossings.begin(), crossings.end(),
                   [](const Crossing& a, const Crossing& b) { return a.died() > b.died(); });
  return crossings;
}

}  // namespace

void PointPackets::on_packet(const AnalysedPacket& packet) {
  if (!packet.decoded.packet.is_roce()) return;
  const analysis::Observation& seen = packet.observation;
  const std::uint32_t flow = flows_.number(seen.source, seen.destination, seen.dest_qp);
  JoinSide& side = sides_[seen.point];
  side.packets.push_back(see_packet(seen, flow));
  const std::int64_t time = side.packets.back().time_ns;
  side.first_ns = side.packets.size() == 1 ? time : std::min(side.first_ns, time);
  side.last_ns = std::max(side.last_ns, time);
}

/// Two points, and what passed both.
struct PointPackets::Pair {
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  JoinResult result;
};

/// Returns by how much packets are later at `b` than at `a`, each by its own clock; 0 if no packet passed both.
std::int64_t PointPackets::difference_of(const Pair& pair) const {
  const DifferenceTrend& trend = pair.result.match.trend;
  return trend.is_known() ? trend.at_time_a(sides_.at(pair.a).first_ns, 0) : 0;
}

JoinSide PointPackets::side_of(std::uint16_t point, const std::vector<bool>& flows, std::int64_t last_frame_ns) const {
  const JoinSide& all = sides_.at(point);
  JoinSide side{{}, all.first_ns, std::clamp(last_frame_ns, all.last_ns, kLatestSeen)};
  std::copy_if(all.packets.begin(), all.packets.end(), std::back_inserter(side.packets),
               [&](const SeenPacket& packet) { return flows[packet.flow]; });
  return side;
}

std::vector<PointPackets::Pair> PointPackets::join_pairs(const std::vector<CapturePoint>& points,
                                                         JoinedPoints& joined) const {
  // A flow that only one of two points sees takes another path: it was not lost.
  std::map<std::uint16_t, std::vector<bool>> flows;
  for (const auto& [point, side] : sides_) {
    std::vector<bool>& seen = flows.emplace(point, std::vector<bool>(flows_.flows().size())).first->second;
    for (const SeenPacket& packet : side.packets) seen[packet.flow] = true;
  }
  std::vector<Pair> pairs;
  std::size_t passed_over = 0;
  for (auto a = sides_.begin(); a != sides_.end(); ++a) {
    for (auto b = std::next(a); b != sides_.end(); ++b) {
      std::vector<bool> both = flows.at(a->first);
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = both[i] && flows.at(b->first)[i];
      if (std::find(both.begin(), both.end(), true) == both.end()) continue;
      if (pairs.size() == kMostPairs) {
        ++passed_over;
        continue;
      }
      JoinOptions options;
      if (points[a->first].file_set == points[b->first].file_set) {
        options.offset_ns = 0;
        options.same_file = true;
      }
      const JoinSide side_a = side_of(a->first, both, points[a->first].last_ns);
      const JoinSide side_b = side_of(b->first, both, points[b->first].last_ns);
      pairs.push_back({a->first, b->first, join_captures(side_a, side_b, flows_, options)});
    }
  }
  if (passed_over != 0) {
    joined.caveats.push_back(
        fmt::format("{} pairs of capture points were not compared: there are too many points", passed_over));
  }
  return pairs;
}

JoinedPoints PointPackets::join(const std::vector<CapturePoint>& points) {
  JoinedPoints joined;
  const std::vector<Pair> pairs = join_pairs(points, joined);
  Passages passages;
  std::uint64_t unknown = 0;
  for (const Pair& pair : pairs) {
    for (const FlowSummary& flow : pair.result.flows) {
      if (flow.way == Way::unknown) {
        unknown += flow.summary.first;
        continue;
      }
      const bool is_a_first = flow.way == Way::a_to_b;
      passages[flow.flow][is_a_first ? PairOfPoints{pair.a, pair.b} : PairOfPoints{pair.b, pair.a}] = {
          &flow.summary, pair.result.clock.offset_ns.has_value()};
    }
    const std::int64_t difference = difference_of(pair);
    if (std::abs(difference) < kClocksApart) continue;
    joined.clocks_apart.push_back(fmt::format(
        "the clock of {} is {} {} that of {}: times of the two are not comparable", points[pair.b].name,
        text::duration_text(std::abs(difference)), difference > 0 ? "ahead of" : "behind", points[pair.a].name));
  }
  joined.crossings = crossings_of(passages);
  if (unknown != 0) {
    joined.caveats.push_back(fmt::format(
        "{} packets of two capture points were not compared: it is unknown which point they pass first; roce-analyze "
        "join tells more, and --offset says how far the clocks are apart",
        text::count_text(unknown)));
  }
  return joined;
}

}  // namespace roce::analyze
