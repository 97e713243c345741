// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/seen_packet.h"

namespace roce::analyze {

/// A packet that was seen at A and at B.
struct DelaySample {
  std::int64_t time_ns = 0;        ///< at A
  std::int64_t difference_ns = 0;  ///< its time at B less that at A, each of its own clock
  std::uint32_t leg = 0;
};

/// What the difference of the times at A and B usually is: of each leg a median, and one drift for all.
class DifferenceTrend {
 public:
  DifferenceTrend() = default;
  /// `legs`: how many there are. The drift is a robust line (Theil-Sen) through the medians of windows, and 0 unless
  /// the samples last a second and it stands out of their scatter.
  DifferenceTrend(std::span<const DelaySample> samples, std::size_t legs);

  /// Whether there was any sample.
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// The difference to expect of a packet that was at A at this time; of a leg without samples that of all.
  [[nodiscard]] std::int64_t at_time_a(std::int64_t time_ns, std::uint32_t leg) const;
  /// The same of a packet that was at B at this time.
  [[nodiscard]] std::int64_t at_time_b(std::int64_t time_ns, std::uint32_t leg) const;

 private:
  [[nodiscard]] std::int64_t median(std::uint32_t leg) const;

  std::int64_t reference_ns_ = 0;
  std::int64_t median_ns_ = 0;
  double drift_ = 0;
  std::vector<std::optional<std::int64_t>> leg_medians_;
  bool is_known_ = false;
};

/// Which capture point the packets of a leg pass first.
enum class PointOrder : std::uint8_t { unknown, a_first, b_first };

/// Why that is believed, from the strongest on.
enum class OrderBasis : std::uint8_t {
  none,
  changes,     ///< hop limits that were counted down, CE marks and damage that only the second point has
  given,       ///< the user gave the clock offset
  round_trip,  ///< the two directions of a host pair have differences that a round trip between the points explains
  scatter,     ///< delays have a smallest value and no largest
  offset,      ///< the clock offset that other host pairs told
  losses,      ///< packets are missing at one point only
};
[[nodiscard]] std::string_view to_string(OrderBasis basis);

/// What else is known of a leg.
struct LegEvidence {
  std::uint32_t reverse = kNoLeg;
  std::uint64_t changed_behind_a = 0;  ///< packets with a change that shows that they were at A before they were at B
  std::uint64_t changed_behind_b = 0;
  std::uint64_t only_a = 0;  ///< packets that only A saw
  std::uint64_t only_b = 0;
};

struct LegOrder {
  PointOrder order = PointOrder::unknown;
  OrderBasis basis = OrderBasis::none;
};

/// The clocks of A and B against each other, and what follows from them.
struct ClockModel {
  /// How far B's clock is ahead of A's at `reference_ns`; unknown without packets in both orders.
  std::optional<std::int64_t> offset_ns;
  std::int64_t uncertainty_ns = 0;  ///< half of the smallest round trip between the points; 0 if the offset was given
  bool is_given = false;
  bool is_contradictory = false;  ///< the smallest round trip came out negative: the clocks did not run evenly
  std::int64_t reference_ns = 0;  ///< of A's clock: the first packet that both saw
  std::optional<double>
      drift;  ///< what B's clock gains, in parts of one; none if too little is known to tell it from 0
  std::vector<LegOrder> legs;
  /// Without an offset: the difference from which the delays of legs that pass A first, or B first, count.
  std::optional<std::int64_t> smallest_a_first_ns;
  std::optional<std::int64_t> largest_b_first_ns;

  /// The one-way delay of a packet from its first point to its second: absolute with an offset, else since the
  /// smallest of its order. None if the order is unknown.
  [[nodiscard]] std::optional<std::int64_t> delay(const DelaySample& sample) const;
  /// The time on A's clock of what B saw at `time_ns`; none without an offset.
  [[nodiscard]] std::optional<std::int64_t> on_clock_a(std::int64_t time_ns) const;

 private:
  friend class ClockEstimate;
  [[nodiscard]] std::int64_t without_drift(const DelaySample& sample) const;
};

/// Compares the clocks by packets that both points saw. With packets in both orders: the offset for which the smallest
/// delays of both are the same, that is right to half of their sum whatever the way is like. `given_offset_ns`: what
/// the user knows, taken as it is.
[[nodiscard]] ClockModel compare_clocks(std::span<const DelaySample> samples, std::span<const LegEvidence> evidence,
                                        std::optional<std::int64_t> given_offset_ns);

}  // namespace roce::analyze
