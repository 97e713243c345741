// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/join/capture_match.h"
#include "analyze/join/clock_offset.h"
#include "analyze/join/seen_packet.h"
#include "roce/analysis/histogram.h"

namespace roce::analyze {

/// The direction in which packets pass the two capture points.
enum class Way : std::uint8_t { a_to_b, b_to_a, unknown };
inline constexpr std::size_t kWays = 3;
/// `a_to_b`, `b_to_a`, `unknown`
[[nodiscard]] std::string_view to_string(Way way);
[[nodiscard]] Way way_of(PointOrder order);

/// The fate of a packet between the points. Its first point is the one that it passes first.
enum class Fate : std::uint8_t {
  lost,        ///< it passed the first point but not the second
  damaged,     ///< its ICRC was right at the first point and is wrong at the second
  duplicated,  ///< the second point saw one copy more of it than the first
  reordered,   ///< at the second point it came after packets of its flow that came after it at the first
  ce_marked,   ///< only the second point saw it with a CE mark
  missed,      ///< only the second point saw it: the capture at the first point lacks it
  orphaned,    ///< it is damaged at the second point, and its original at the first cannot be identified
  only_a,      ///< only A saw it, and it is unknown which point comes first; `only_b` likewise for B
  only_b,
  not_judged,  ///< the other capture had not begun or had ended at the time at which it should have been there
};
inline constexpr std::size_t kFates = 10;
[[nodiscard]] std::string_view to_string(Fate fate);

/// A packet to which something happened. Indices are those of the packets given to `join_captures`.
struct PacketFate {
  Fate fate{};
  std::uint32_t in_a = kNoPacket;
  std::uint32_t in_b = kNoPacket;
  std::uint32_t flow = 0;
  std::int64_t order_ns = 0;  ///< time at A, or the estimated time for a packet that only B saw
};

/// The fate of the packets of a way or of a flow. If the way is unknown, A counts as the first point. At the first
/// point: `first` = `matched` + lost + only_a + `not_judged_first`, at the second: `second` = `matched` + duplicated +
/// missed + orphaned + only_b + `not_judged_second`.
struct WaySummary {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t matched = 0;
  std::uint64_t not_judged_first = 0;
  std::uint64_t not_judged_second = 0;
  std::array<std::uint64_t, kFates> fates{};
  std::uint64_t bad_at_first = 0;  ///< packets with a wrong ICRC already at the first point
  std::uint64_t dscp_changed = 0;
  std::uint64_t priority_changed = 0;  ///< PCP
  std::uint64_t vlan_changed = 0;      ///< VLAN or tunnel
  std::optional<int> least_hops;       ///< smallest decrease of the hop limit; `most_hops`: the largest
  std::optional<int> most_hops;
  analysis::Histogram delay;  ///< delay of matched, undamaged packets; see `ClockModel::delay`

  [[nodiscard]] std::uint64_t count(Fate fate) const { return fates[static_cast<std::size_t>(fate)]; }
  /// Returns the number of packets that were lost or damaged.
  [[nodiscard]] std::uint64_t died() const { return count(Fate::lost) + count(Fate::damaged); }
};

struct FlowSummary {
  std::uint32_t flow = 0;
  Way way = Way::unknown;
  WaySummary summary;
};

/// One of the two captures.
struct JoinSide {
  std::vector<SeenPacket> packets;  ///< in the order of the capture
  std::int64_t first_ns = 0;        ///< time of its first frame, RoCE or not; `last_ns`: of its last
  std::int64_t last_ns = 0;
};

struct JoinOptions {
  std::int64_t within_ns = 1'000'000'000;  ///< how much longer than usual a packet may take
  std::optional<std::int64_t> offset_ns;   ///< how far B's clock is ahead of A's, if the user knows
  bool same_span = false;                  ///< both captures cover all of the time that either covers
  bool same_file = false;                  ///< the same, and with one clock: the captures begin and end together
  bool keep_fates = false;                 ///< fill `JoinResult::fates`
};

struct JoinResult {
  CaptureMatch match;
  ClockModel clock;
  std::array<WaySummary, kWays> ways;
  std::vector<FlowSummary> flows;  ///< flows that have packets, the worst first
  std::vector<PacketFate> fates;   ///< by `order_ns`; several for a packet to which several things happened

  [[nodiscard]] const WaySummary& way(Way way) const { return ways[static_cast<std::size_t>(way)]; }
};

/// Determines what happened between two capture points. Memory: in addition to the packets, about 60 bytes for each of
/// them and 2 KB for each flow.
[[nodiscard]] JoinResult join_captures(const JoinSide& a, const JoinSide& b, const FlowTable& flows,
                                       const JoinOptions& options);

}  // namespace roce::analyze
