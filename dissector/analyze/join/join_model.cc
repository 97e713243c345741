// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/join_model.h"

#include <algorithm>
#include <tuple>

namespace roce::analyze {

namespace {

/// A capture that makes copies copies everything, a network only few: more than this part of a leg's packets are not
/// the network's.
constexpr std::uint64_t kCopiesOfCapture = 3;

class Joiner {
 public:
  Joiner(const JoinSide& a, const JoinSide& b, const FlowTable& flows, const JoinOptions& options)
      : a_(a), b_(b), flows_(flows), options_(options) {}

  JoinResult finish() && {
    result_.match = match_captures(a_.packets, b_.packets, flows_, options_.within_ns);
    const std::vector<LegEvidence> evidence = gather_evidence();
    const std::vector<DelaySample> samples = result_.match.samples(a_.packets, b_.packets, flows_);
    result_.clock = compare_clocks(samples, evidence, options_.offset_ns);
    result_.flows.resize(flows_.flows().size());
    for (std::uint32_t flow = 0; flow < result_.flows.size(); ++flow) {
      const std::uint32_t leg = flows_.flows()[flow].leg;
      result_.flows[flow] = {flow, way_of(result_.clock.legs[leg].order), {}};
    }
    for (std::uint32_t i = 0; i < a_.packets.size(); ++i) take_of_a(i);
    for (std::uint32_t i = 0; i < b_.packets.size(); ++i) take_of_b(i);
    find_reordered();
    sum_up();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t leg_of(std::uint32_t flow) const { return flows_.flows()[flow].leg; }

  /// Returns when the packet was at the other point, or would have been; nothing if no packet was at both.
  [[nodiscard]] std::optional<std::int64_t> expected_in_b(const SeenPacket& at_a) const {
    if (!result_.match.trend.is_known()) return std::nullopt;
    return at_a.time_ns + result_.match.trend.at_time_a(at_a.time_ns, leg_of(at_a.flow));
  }
  [[nodiscard]] std::optional<std::int64_t> expected_in_a(const SeenPacket& at_b) const {
    if (!result_.match.trend.is_known()) return std::nullopt;
    return at_b.time_ns - result_.match.trend.at_time_b(at_b.time_ns, leg_of(at_b.flow));
  }
  /// True if the other capture was running for all of the time in which it would have seen the packet.
  [[nodiscard]] bool is_judged_in_b(const SeenPacket& at_a) const {
    const DelayVariation variation = result_.match.trend.variation(leg_of(at_a.flow));
    return was_running(b_, expected_in_b(at_a), variation.less, variation.more);
  }
  [[nodiscard]] bool is_judged_in_a(const SeenPacket& at_b) const {
    const DelayVariation variation = result_.match.trend.variation(leg_of(at_b.flow));
    return was_running(a_, expected_in_a(at_b), variation.more, variation.less);
  }
  [[nodiscard]] bool was_running(const JoinSide& other, std::optional<std::int64_t> expected, std::int64_t earlier,
                                 std::int64_t later) const {
    if (!expected) return false;
    if (options_.same_span) return true;
    const std::int64_t begin = options_.same_file ? std::min(a_.first_ns, b_.first_ns) : other.first_ns;
    const std::int64_t end = options_.same_file ? std::max(a_.last_ns, b_.last_ns) : other.last_ns;
    return *expected - earlier >= begin && *expected + later <= end;
  }

  std::vector<LegEvidence> gather_evidence() {
    std::vector<LegEvidence> evidence;
    for (const Leg& leg : flows_.legs()) {
      evidence.emplace_back();
      evidence.back().reverse = leg.reverse;
    }
    for (std::size_t i = 0; i < a_.packets.size(); ++i) {
      const SeenPacket& at_a = a_.packets[i];
      const PacketMatch& match = result_.match.a[i];
      if (match.kind == MatchKind::none) {
        evidence[leg_of(at_a.flow)].only_a += is_judged_in_b(at_a) && !at_a.is_bad ? 1U : 0U;
      }
      if (match.kind != MatchKind::same && match.kind != MatchKind::damaged) continue;
      const SeenPacket& at_b = b_.packets[match.other];
      // The fields of a damaged packet may be wrong, and nothing repairs a packet on the way: the sound one decides.
      const std::uint32_t sound = at_a.is_bad ? at_b.flow : at_a.flow;
      LegEvidence& leg = evidence[leg_of(sound)];
      const bool is_behind_a = is_behind(at_a, at_b);
      const bool is_behind_b = is_behind(at_b, at_a);
      if (is_behind_a != is_behind_b) ++(is_behind_a ? leg.changed_behind_a : leg.changed_behind_b);
    }
    for (std::size_t i = 0; i < b_.packets.size(); ++i) {
      const SeenPacket& at_b = b_.packets[i];
      if (result_.match.b[i].kind != MatchKind::none) continue;
      evidence[leg_of(at_b.flow)].only_b += is_judged_in_a(at_b) && !at_b.is_bad ? 1U : 0U;
    }
    const std::vector<std::uint64_t> copies_a = network_copies(a_, result_.match.a);
    const std::vector<std::uint64_t> copies_b = network_copies(b_, result_.match.b);
    for (std::size_t leg = 0; leg < evidence.size(); ++leg) {
      evidence[leg].copies_a = copies_a[leg];
      evidence[leg].copies_b = copies_b[leg];
    }
    return evidence;
  }

  /// Returns for each leg how many copies of packets this side has more than the other; 0 where the capture itself
  /// seems to have made them, as one does that records packets at two interfaces.
  [[nodiscard]] std::vector<std::uint64_t> network_copies(const JoinSide& side,
                                                          const std::vector<PacketMatch>& matches) const {
    std::vector<std::uint64_t> copies(flows_.legs().size());
    std::vector<std::uint64_t> packets(copies.size());
    for (std::size_t i = 0; i < side.packets.size(); ++i) {
      const std::uint32_t leg = leg_of(side.packets[i].flow);
      ++packets[leg];
      if (matches[i].kind == MatchKind::copy) ++copies[leg];
    }
    for (std::size_t leg = 0; leg < copies.size(); ++leg) {
      if (copies[leg] * kCopiesOfCapture > packets[leg]) copies[leg] = 0;
    }
    return copies;
  }

  static bool is_behind(const SeenPacket& first, const SeenPacket& second) {
    if (first.is_bad != second.is_bad) return second.is_bad;
    return (second.hop_limit < first.hop_limit) || (second.is_ce() && !first.is_ce());
  }

  void add_fate(Fate fate, std::uint32_t flow, std::uint32_t in_a, std::uint32_t in_b) {
    ++result_.flows[flow].summary.fates[static_cast<std::size_t>(fate)];
    if (!options_.keep_fates) return;
    const std::int64_t time = in_a != kNoPacket ? a_.packets[in_a].time_ns
                                                : expected_in_a(b_.packets[in_b]).value_or(b_.packets[in_b].time_ns);
    result_.fates.push_back({fate, in_a, in_b, flow, time});
  }

  void take_of_a(std::uint32_t index) {
    const SeenPacket& packet = a_.packets[index];
    const PacketMatch& match = result_.match.a[index];
    const bool is_paired = match.kind == MatchKind::same || match.kind == MatchKind::damaged;
    // The fields of a damaged packet are not trusted.
    const std::uint32_t flow =
        is_paired && packet.is_bad && !b_.packets[match.other].is_bad ? b_.packets[match.other].flow : packet.flow;
    FlowSummary& summary = result_.flows[flow];
    const bool is_first = summary.way != Way::b_to_a;
    ++(is_first ? summary.summary.first : summary.summary.second);
    if (is_paired) {
      if (is_first) take_pair(flow, index, match.other, packet, b_.packets[match.other]);
      return;
    }
    take_single(summary, packet, match, index, kNoPacket, is_judged_in_b(packet));
  }

  void take_of_b(std::uint32_t index) {
    const SeenPacket& packet = b_.packets[index];
    const PacketMatch& match = result_.match.b[index];
    const bool is_paired = match.kind == MatchKind::same || match.kind == MatchKind::damaged;
    const std::uint32_t flow =
        is_paired && packet.is_bad && !a_.packets[match.other].is_bad ? a_.packets[match.other].flow : packet.flow;
    FlowSummary& summary = result_.flows[flow];
    const bool is_first = summary.way == Way::b_to_a;
    ++(is_first ? summary.summary.first : summary.summary.second);
    if (is_paired) {
      if (is_first) take_pair(flow, match.other, index, packet, a_.packets[match.other]);
      return;
    }
    take_single(summary, packet, match, kNoPacket, index, is_judged_in_a(packet));
  }

  /// Judges a packet that the other capture does not have.
  void take_single(FlowSummary& flow, const SeenPacket& packet, const PacketMatch& match, std::uint32_t in_a,
                   std::uint32_t in_b, bool is_judged) {
    const bool is_a = in_a != kNoPacket;
    const bool is_first = is_a == (flow.way != Way::b_to_a);
    if (match.kind == MatchKind::none && !is_judged) {
      ++(is_first ? flow.summary.not_judged_first : flow.summary.not_judged_second);
      add_fate(Fate::not_judged, flow.flow, in_a, in_b);
      return;
    }
    Fate fate = Fate::missed;
    if (flow.way == Way::unknown) {
      fate = is_a ? Fate::only_a : Fate::only_b;
    } else if (is_first) {
      fate = Fate::lost;
    } else if (match.kind == MatchKind::copy) {
      fate = Fate::duplicated;
    } else if (packet.is_bad) {
      fate = Fate::orphaned;
    }
    if (is_first && packet.is_bad) ++flow.summary.bad_at_first;
    add_fate(fate, flow.flow, in_a, in_b);
  }

  void take_pair(std::uint32_t flow, std::uint32_t in_a, std::uint32_t in_b, const SeenPacket& first,
                 const SeenPacket& second) {
    WaySummary& summary = result_.flows[flow].summary;
    ++summary.matched;
    if (first.is_bad) ++summary.bad_at_first;
    if (second.is_bad && !first.is_bad) {
      add_fate(Fate::damaged, flow, in_a, in_b);
      return;
    }
    const int hops = int{first.hop_limit} - int{second.hop_limit};
    summary.least_hops = std::min(summary.least_hops.value_or(hops), hops);
    summary.most_hops = std::max(summary.most_hops.value_or(hops), hops);
    summary.dscp_changed += first.traffic_class >> 2U != second.traffic_class >> 2U ? 1U : 0U;
    summary.priority_changed += first.priority != second.priority ? 1U : 0U;
    summary.vlan_changed += first.domain != second.domain ? 1U : 0U;
    if (second.is_ce() && !first.is_ce()) add_fate(Fate::ce_marked, flow, in_a, in_b);
  }

  void find_reordered() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < a_.packets.size(); ++i) {
      const PacketMatch& match = result_.match.a[i];
      const SeenPacket& packet = a_.packets[i];
      const bool is_sound = match.kind == MatchKind::same && !packet.is_bad;
      if (is_sound && result_.flows[packet.flow].way != Way::unknown) order.push_back(i);
    }
    const auto at_a = [&](std::uint32_t i) { return std::tuple{a_.packets[i].time_ns, i}; };
    const auto at_b = [&](std::uint32_t i) {
      const std::uint32_t in_b = result_.match.a[i].other;
      return std::tuple{b_.packets[in_b].time_ns, in_b};
    };
    const auto is_a_first = [&](std::uint32_t i) { return result_.flows[a_.packets[i].flow].way == Way::a_to_b; };
    const auto at_first = [&](std::uint32_t i) { return is_a_first(i) ? at_a(i) : at_b(i); };
    const auto at_second = [&](std::uint32_t i) { return is_a_first(i) ? at_b(i) : at_a(i); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::tuple{a_.packets[x].flow, at_second(x)} < std::tuple{a_.packets[y].flow, at_second(y)};
    });
    std::uint32_t latest = kNoPacket;
    for (const std::uint32_t i : order) {
      const bool is_same_flow = latest != kNoPacket && a_.packets[latest].flow == a_.packets[i].flow;
      if (is_same_flow && at_first(i) < at_first(latest)) {
        add_fate(Fate::reordered, a_.packets[i].flow, i, result_.match.a[i].other);
      } else {
        latest = i;
      }
      add_flow_delay(i);
    }
  }

  void add_flow_delay(std::uint32_t in_a) {
    if (result_.match.a[in_a].is_one_of_many) return;
    const SeenPacket& packet = a_.packets[in_a];
    const std::int64_t difference = b_.packets[result_.match.a[in_a].other].time_ns - packet.time_ns;
    const auto delay = result_.clock.delay({packet.time_ns, difference, leg_of(packet.flow)});
    if (delay) result_.flows[packet.flow].summary.delay.add(Duration{*delay});
  }

  void sum_up() {
    for (const FlowSummary& flow : result_.flows) add(result_.ways[static_cast<std::size_t>(flow.way)], flow.summary);
    std::erase_if(result_.flows,
                  [](const FlowSummary& flow) { return flow.summary.first == 0 && flow.summary.second == 0; });
    const auto badness = [](const FlowSummary& flow) {
      const WaySummary& of = flow.summary;
      return std::tuple{of.died(),
                        of.count(Fate::only_a) + of.count(Fate::only_b),
                        of.count(Fate::reordered),
                        of.count(Fate::duplicated),
                        of.delay.max(),
                        of.first};
    };
    std::stable_sort(result_.flows.begin(), result_.flows.end(),
                     [&](const FlowSummary& x, const FlowSummary& y) { return badness(x) > badness(y); });
    std::stable_sort(result_.fates.begin(), result_.fates.end(),
                     [](const PacketFate& x, const PacketFate& y) { return x.order_ns < y.order_ns; });
  }

  static void add(WaySummary& sum, const WaySummary& part) {
    sum.first += part.first;
    sum.second += part.second;
    sum.matched += part.matched;
    sum.not_judged_first += part.not_judged_first;
    sum.not_judged_second += part.not_judged_second;
    for (std::size_t i = 0; i < kFates; ++i) sum.fates[i] += part.fates[i];
    sum.bad_at_first += part.bad_at_first;
    sum.dscp_changed += part.dscp_changed;
    sum.priority_changed += part.priority_changed;
    sum.vlan_changed += part.vlan_changed;
    if (part.least_hops) {
      sum.least_hops = std::min(sum.least_hops.value_or(*part.least_hops), *part.least_hops);
      sum.most_hops = std::max(sum.most_hops.value_or(*part.most_hops), *part.most_hops);
    }
    sum.delay.merge(part.delay);
  }

  const JoinSide& a_;
  const JoinSide& b_;
  const FlowTable& flows_;
  const JoinOptions& options_;
  JoinResult result_;
};

}  // namespace

std::string_view to_string(Way way) {
  return way == Way::a_to_b ? "a_to_b" : way == Way::b_to_a ? "b_to_a" : "unknown";
}

Way way_of(PointOrder order) {
  return order == PointOrder::a_first ? Way::a_to_b : order == PointOrder::b_first ? Way::b_to_a : Way::unknown;
}

std::string_view to_string(Fate fate) {
  constexpr std::array<std::string_view, kFates> kNames{"lost",   "damaged",  "duplicated", "reordered", "ce_marked",
                                                        "missed", "orphaned", "only_a",     "only_b",    "not_judged"};
  return kNames[static_cast<std::size_t>(fate)];
}

JoinResult join_captures(const JoinSide& a, const JoinSide& b, const FlowTable& flows, const JoinOptions& options) {
  return Joiner{a, b, flows, options}.finish();
}

}  // namespace roce::analyze
