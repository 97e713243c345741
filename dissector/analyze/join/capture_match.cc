// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/capture_match.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "analyze/join/damage_match.h"

namespace roce::analyze {

namespace {

/// In ns. A-RTX-3 (no ACK timeout in use is below 300 us): nothing is sent again for want of an ACK before that.
constexpr std::int64_t kCopyWithin = 300'000;
/// Larger groups, counted in pairs, are matched in order: they are not retransmissions.
constexpr std::size_t kMostPairs = 4096;

class Matcher {
 public:
  Matcher(std::span<const SeenPacket> a, std::span<const SeenPacket> b, const FlowTable& flows, std::int64_t within_ns)
      : a_(a), b_(b), flows_(flows), within_ns_(within_ns) {
    match_.a.resize(a.size());
    match_.b.resize(b.size());
    match_.by_icrc = has_icrcs(a) && has_icrcs(b);
  }

  CaptureMatch finish() && {
    const std::vector<std::uint32_t> order_a = sorted(a_);
    const std::vector<std::uint32_t> order_b = sorted(b_);
    std::vector<DelaySample> samples;
    each_group(order_a, order_b, [&](std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
      if (in_a.size() != 1 || in_b.size() != 1) return;
      const SeenPacket& at_a = a_[in_a[0]];
      samples.push_back({at_a.time_ns, b_[in_b[0]].time_ns - at_a.time_ns, leg_of(at_a)});
    });
    match_.trend = DifferenceTrend{samples, flows_.legs().size()};
    each_group(order_a, order_b, [&](std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
      match_group(in_a, in_b);
    });
    match_damaged(a_, b_, flows_, within_ns_, match_);
    return std::move(match_);
  }

 private:
  static bool has_icrcs(std::span<const SeenPacket> packets) {
    const auto lacks = std::count_if(packets.begin(), packets.end(), [](const SeenPacket& p) { return !p.has_icrc; });
    return static_cast<std::size_t>(lacks) * 100 <= packets.size();
  }

  [[nodiscard]] std::uint32_t leg_of(const SeenPacket& packet) const { return flows_.flows()[packet.flow].leg; }

  /// Returns the values that all packets of a group have in common.
  [[nodiscard]] auto key(const SeenPacket& packet) const {
    return std::tuple{packet.flow, packet.psn, packet.opcode,
                      match_.by_icrc ? packet.icrc : std::uint32_t{packet.ip_id}};
  }

  [[nodiscard]] std::vector<std::uint32_t> sorted(std::span<const SeenPacket> packets) const {
    std::vector<std::uint32_t> order(packets.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::tuple_cat(key(packets[x]), std::tuple{packets[x].time_ns, x}) <
             std::tuple_cat(key(packets[y]), std::tuple{packets[y].time_ns, y});
    });
    return order;
  }

  /// Calls `use` for each group with the same key, with its packets of A and those of B; either may be empty.
  template <typename Use>
  void each_group(std::span<const std::uint32_t> order_a, std::span<const std::uint32_t> order_b, Use use) const {
    const auto length = [&](std::span<const std::uint32_t> order, std::span<const SeenPacket> packets, const auto& of) {
      std::size_t count = 0;
      while (count < order.size() && key(packets[order[count]]) == of) ++count;
      return count;
    };
    while (!order_a.empty() || !order_b.empty()) {
      const bool from_a = order_b.empty() || (!order_a.empty() && key(a_[order_a[0]]) <= key(b_[order_b[0]]));
      const auto of = from_a ? key(a_[order_a[0]]) : key(b_[order_b[0]]);
      const std::size_t in_a = length(order_a, a_, of);
      const std::size_t in_b = length(order_b, b_, of);
      use(order_a.first(in_a), order_b.first(in_b));
      order_a = order_a.subspan(in_a);
      order_b = order_b.subspan(in_b);
    }
  }

  /// Returns how far the time difference of two packets is from the usual one, in ns.
  [[nodiscard]] std::int64_t surprise(std::uint32_t in_a, std::uint32_t in_b) const {
    const std::int64_t difference = b_[in_b].time_ns - a_[in_a].time_ns;
    return std::abs(difference - match_.trend.at_time_a(a_[in_a].time_ns, leg_of(a_[in_a])));
  }

  void pair(std::uint32_t in_a, std::uint32_t in_b) {
    const MatchKind kind = a_[in_a].is_bad == b_[in_b].is_bad ? MatchKind::same : MatchKind::damaged;
    match_.a[in_a] = {in_b, kind};
    match_.b[in_b] = {in_a, kind};
  }

  void match_group(std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
    if (in_a.empty() || in_b.empty()) return;
    if (are_cnps(in_a) && in_a.size() + in_b.size() > 2 && match_.trend.is_known()) {
      match_cnps(in_a, in_b);
    } else if (in_a.size() * in_b.size() > kMostPairs) {
      match_in_order(in_a, in_b);
    } else {
      match_nearest(in_a, in_b);
    }
    find_copies(in_a, a_, match_.a, match_.b);
    find_copies(in_b, b_, match_.b, match_.a);
  }

  [[nodiscard]] bool are_cnps(std::span<const std::uint32_t> in_a) const {
    return opcode_info(static_cast<Opcode>(a_[in_a[0]].opcode)).operation == Operation::cnp;
  }

  /// Pairs packets of which nothing but the time tells which is which: in order, and so that as few as possible are
  /// left without a partner.
  void match_cnps(std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
    const std::uint32_t leg = leg_of(a_[in_a[0]]);
    const DelayVariation variation = match_.trend.variation(leg);
    const std::int64_t most = std::min(within_ns_, variation.less + variation.more + kCopyWithin);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < in_a.size() && j < in_b.size()) {
      const SeenPacket& at_a = a_[in_a[i]];
      const std::int64_t off = b_[in_b[j]].time_ns - at_a.time_ns - match_.trend.at_time_a(at_a.time_ns, leg);
      if (off < -most) {
        ++j;
      } else if (off > most) {
        ++i;
      } else {
        pair(in_a[i], in_b[j]);
        match_.a[in_a[i]].is_one_of_many = match_.b[in_b[j]].is_one_of_many = true;
        ++i;
        ++j;
      }
    }
  }

  void match_nearest(std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
    std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>> pairs;
    for (const std::uint32_t x : in_a) {
      for (const std::uint32_t y : in_b) {
        const std::int64_t off = surprise(x, y);
        if (off <= within_ns_) pairs.emplace_back(off, x, y);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [off, x, y] : pairs) {
      if (match_.a[x].kind != MatchKind::none || match_.b[y].kind != MatchKind::none) continue;
      // A packet this far off is another transmission. A copy of a matched packet is not paired with it either.
      if (off > kCopyWithin && (is_near_match(x, in_a, a_, match_.a) || is_near_match(y, in_b, b_, match_.b))) continue;
      pair(x, y);
    }
  }

  /// True if a matched packet of the same capture is so near in time that this packet can be a copy of it.
  static bool is_near_match(std::uint32_t index, std::span<const std::uint32_t> group,
                            std::span<const SeenPacket> packets, const std::vector<PacketMatch>& own) {
    return std::any_of(group.begin(), group.end(), [&](std::uint32_t other) {
      return own[other].kind != MatchKind::none &&
             std::abs(packets[other].time_ns - packets[index].time_ns) <= kCopyWithin;
    });
  }

  void match_in_order(std::span<const std::uint32_t> in_a, std::span<const std::uint32_t> in_b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < in_a.size() && j < in_b.size()) {
      // Skipping a packet is right only if the one after it fits better.
      const std::int64_t here = surprise(in_a[i], in_b[j]);
      if (i + 1 < in_a.size() && surprise(in_a[i + 1], in_b[j]) < here) {
        ++i;
      } else if (j + 1 < in_b.size() && surprise(in_a[i], in_b[j + 1]) < here) {
        ++j;
      } else {
        if (here <= within_ns_) pair(in_a[i], in_b[j]);
        ++i;
        ++j;
      }
    }
  }

  /// Finds, within one capture, unmatched packets that repeat a matched one. The first of the copies takes the match.
  static void find_copies(std::span<const std::uint32_t> group, std::span<const SeenPacket> packets,
                          std::vector<PacketMatch>& own, std::vector<PacketMatch>& others) {
    const auto is_matched = [&](std::uint32_t index) {
      return own[index].kind == MatchKind::same || own[index].kind == MatchKind::damaged;
    };
    // The group is sorted by time, so the nearest matched packet is the last one before or the first one after.
    std::vector<std::uint32_t> behind(group.size(), kNoPacket);
    for (std::size_t i = group.size(); i-- > 0;) {
      behind[i] = is_matched(group[i]) ? group[i] : i + 1 < group.size() ? behind[i + 1] : kNoPacket;
    }
    std::uint32_t before = kNoPacket;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::uint32_t index = group[i];
      if (is_matched(index)) before = index;
      if (own[index].kind != MatchKind::none) continue;
      const auto distance = [&](std::uint32_t other) {
        return other == kNoPacket ? std::numeric_limits<std::int64_t>::max()
                                  : std::abs(packets[other].time_ns - packets[index].time_ns);
      };
      const bool is_before = distance(before) <= distance(behind[i]);
      const std::uint32_t nearest = is_before ? before : behind[i];
      if (nearest == kNoPacket || (distance(nearest) > kCopyWithin && packets[index].ip_id == 0)) continue;
      if (!is_matched(nearest)) {
        // An earlier copy has taken its match.
        own[index] = {own[nearest].other, MatchKind::copy};
      } else if (is_before) {
        own[index] = {nearest, MatchKind::copy};
      } else {
        own[index] = own[nearest];
        others[own[index].other].other = index;
        own[nearest] = {index, MatchKind::copy};
        before = index;
      }
    }
  }

  std::span<const SeenPacket> a_;
  std::span<const SeenPacket> b_;
  const FlowTable& flows_;
  std::int64_t within_ns_;
  CaptureMatch match_;
};

}  // namespace

std::vector<DelaySample> CaptureMatch::samples(std::span<const SeenPacket> a_packets,
                                               std::span<const SeenPacket> b_packets, const FlowTable& flows) const {
  std::vector<DelaySample> samples;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != MatchKind::same || a_packets[i].is_bad || a[i].is_one_of_many) continue;
    const SeenPacket& at_a = a_packets[i];
    samples.push_back({at_a.time_ns, b_packets[a[i].other].time_ns - at_a.time_ns, flows.flows()[at_a.flow].leg});
  }
  return samples;
}

CaptureMatch match_captures(std::span<const SeenPacket> a, std::span<const SeenPacket> b, const FlowTable& flows,
                            std::int64_t within_ns) {
  return Matcher{a, b, flows, within_ns}.finish();
}

}  // namespace roce::analyze
