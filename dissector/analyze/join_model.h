// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/capture_match.h"
#include "analyze/clock_offset.h"
#include "analyze/seen_packet.h"
#include "roce/analysis/histogram.h"

namespace roce::analyze {

/// The way that packets take past the capture points.
enum class Way : std::uint8_t { a_to_b, b_to_a, unknown };
inline constexpr std::size_t kWays = 3;
/// `a_to_b`, `b_to_a`, `unknown`
[[nodiscard]] std::string_view to_string(Way way);
[[nodiscard]] Way way_of(PointOrder order);

/// What happened to a packet between the points. The first point is the one that it passes first.
enum class Fate : std::uint8_t {
  lost,        ///< it passed the first point and not the second
  damaged,     ///< its ICRC was right at the first point and is wrong at the second
  duplicated,  ///< the second point saw one more of it than the first
  reordered,   ///< at the second point it came behind packets of its flow that were behind it at the first
  ce_marked,   ///< only the second point saw it marked
  missed,      ///< only the second point saw it: the capture at the first does not have it
  orphaned,    ///< it is damaged at the second point, and what it was at the first cannot be told
  only_a,      ///< only A saw it, and which point is the first is unknown
  only_b,
  not_judged,  ///< the other capture had not begun or had ended when it should have been there
};
inline constexpr std::size_t kFates = 10;
[[nodiscard]] std::string_view to_string(Fate fate);

/// A packet to which something happened. Indices are those of the packets that were joined.
struct PacketFate {
  Fate fate{};
  std::uint32_t in_a = kNoPacket;
  std::uint32_t in_b = kNoPacket;
  std::uint32_t flow = 0;
  std::int64_t order_ns = 0;  ///< when it was at A, or about when it would have been
};

/// What became of the packets of a way, or of a flow. Where the way is unknown, A is the first point. At the first
/// point: `first` = `matched` + lost + only_a + `not_judged_first`, at the second: `second` = `matched` + duplicated +
/// missed + orphaned + only_b + `not_judged_second`.
struct WaySummary {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t matched = 0;
  std::uint64_t not_judged_first = 0;
  std::uint64_t not_judged_second = 0;
  std::array<std::uint64_t, kFates> fates{};
  std::uint64_t bad_at_first = 0;  ///< with a wrong ICRC already at the first point
  std::uint64_t dscp_changed = 0;
  std::uint64_t priority_changed = 0;  ///< PCP
  std::uint64_t vlan_changed = 0;      ///< VLAN or tunnel
  std::optional<int> least_hops;       ///< by which the hop limit went down
  std::optional<int> most_hops;
  analysis::Histogram delay;  ///< of what matched and was sound; see `ClockModel::delay`

  [[nodiscard]] std::uint64_t count(Fate fate) const { return fates[static_cast<std::size_t>(fate)]; }
  /// What did not arrive whole.
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
  std::int64_t first_ns = 0;        ///< time of its first and last frame, RoCE or not
  std::int64_t last_ns = 0;
};

struct JoinOptions {
  std::int64_t within_ns = 1'000'000'000;  ///< how much longer than usual a packet may take
  std::optional<std::int64_t> offset_ns;   ///< how far B's clock is ahead of A's, if the user knows
  bool same_span = false;                  ///< both captures saw all the time that either saw
  bool keep_fates = false;                 ///< fill `JoinResult::fates`
};

struct JoinResult {
  CaptureMatch match;
  ClockModel clock;
  std::array<WaySummary, kWays> ways;
  std::vector<FlowSummary> flows;  ///< that have packets, the worst first
  std::vector<PacketFate> fates;   ///< by `order_ns`; of a packet several if several things happened

  [[nodiscard]] const WaySummary& way(Way way) const { return ways[static_cast<std::size_t>(way)]; }
};

/// Finds out what happened between two capture points. Memory: beside the packets about 60 bytes of each, and 2 KB of
/// each flow.
[[nodiscard]] JoinResult join_captures(const JoinSide& a, const JoinSide& b, const FlowTable& flows,
                                       const JoinOptions& options);

}  // namespace roce::analyze
