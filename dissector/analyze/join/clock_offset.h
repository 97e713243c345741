// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/join/seen_packet.h"

namespace roce::analyze {

/// A packet that was seen at both A and B.
struct DelaySample {
  std::int64_t time_ns = 0;        ///< at A
  std::int64_t difference_ns = 0;  ///< its time at B minus its time at A, each by that point's own clock
  std::uint32_t leg = 0;
};

/// The distances, in ns, from the usual difference of the times at two points to the least and to the greatest one.
struct DelayVariation {
  std::int64_t less = 0;
  std::int64_t more = 0;
};

/// The usual difference of the times at A and B: a median for each leg, and one drift for all.
class DifferenceTrend {
 public:
  DifferenceTrend() = default;
  /// `legs`: the number of legs. The drift is a robust line (Theil-Sen) through the medians of windows; it is 0 if the
  /// samples span less than a second or it does not stand out from their scatter.
  DifferenceTrend(std::span<const DelaySample> samples, std::size_t legs);

  /// True if there was at least one sample.
  [[nodiscard]] bool is_known() const { return is_known_; }
  /// Returns the difference to expect for a packet at A at this time; for a leg without samples, by the median of all.
  [[nodiscard]] std::int64_t at_time_a(std::int64_t time_ns, std::uint32_t leg) const;
  /// Returns the difference to expect for a packet at B at this time.
  [[nodiscard]] std::int64_t at_time_b(std::int64_t time_ns, std::uint32_t leg) const;
  /// Returns by how much the difference of a packet may be less and more than the usual one: as much as it was at most
  /// in the samples of this leg; for a leg without samples, in those of all legs.
  [[nodiscard]] DelayVariation variation(std::uint32_t leg) const;

 private:
  [[nodiscard]] std::int64_t median(std::uint32_t leg) const;

  std::int64_t reference_ns_ = 0;
  std::int64_t median_ns_ = 0;
  double drift_ = 0;
  std::vector<std::optional<std::int64_t>> leg_medians_;
  std::vector<DelayVariation> variations_;  ///< by leg
  DelayVariation variation_;                ///< of all legs
  bool is_known_ = false;
};

/// The capture point that the packets of a leg pass first.
enum class PointOrder : std::uint8_t { unknown, a_first, b_first };

/// The evidence for the order of a leg, from the strongest to the weakest.
enum class OrderBasis : std::uint8_t {
  none,
  changes,     ///< decremented hop limits, CE marks and damage that only the second point has
  given,       ///< the user gave the clock offset
  round_trip,  ///< the two directions of a host pair have differences that a round trip between the points explains
  scatter,     ///< delays have a lower bound but no upper one
  offset,      ///< the clock offset that follows from other host pairs
  losses,      ///< packets are missing at one point only
  copies,      ///< some packets have copies at one point only
};
[[nodiscard]] std::string_view to_string(OrderBasis basis);

/// The other evidence about a leg.
struct LegEvidence {
  std::uint32_t reverse = kNoLeg;
  std::uint64_t changed_behind_a = 0;  ///< packets with a change that shows that they passed A before B
  std::uint64_t changed_behind_b = 0;
  std::uint64_t only_a = 0;  ///< packets that only A saw
  std::uint64_t only_b = 0;
  std::uint64_t copies_a = 0;  ///< copies, made by the network, of packets that both saw, and that only A saw
  std::uint64_t copies_b = 0;
};

struct LegOrder {
  PointOrder order = PointOrder::unknown;
  OrderBasis basis = OrderBasis::none;
};

/// The relation between the clocks of A and B, and what follows from it.
struct ClockModel {
  /// How far B's clock is ahead of A's at `reference_ns`; not set without packets in both orders, unless it was given.
  std::optional<std::int64_t> offset_ns;
  std::int64_t uncertainty_ns = 0;  ///< half of the smallest round trip between the points; 0 if the offset was given
  bool is_given = false;
  bool is_contradictory = false;  ///< the smallest round trip came out negative: the clocks did not run evenly
  std::int64_t reference_ns = 0;  ///< on A's clock: the first packet that both saw
  std::optional<double>
      drift;  ///< gain of B's clock, in parts of one; not set if too little is known to tell it from zero
  std::vector<LegOrder> legs;
  /// Without an offset: the difference that counts as delay 0 for legs that pass A first, and for those of B first.
  std::optional<std::int64_t> smallest_a_first_ns;
  std::optional<std::int64_t> largest_b_first_ns;

  /// Returns the one-way delay of a packet from its first point to its second: absolute if the offset is known, else
  /// relative to the smallest delay in its order. Returns nothing if the order is unknown.
  [[nodiscard]] std::optional<std::int64_t> delay(const DelaySample& sample) const;
  /// Converts a time on B's clock to A's clock. Returns nothing without an offset.
  [[nodiscard]] std::optional<std::int64_t> on_clock_a(std::int64_t time_ns) const;

 private:
  friend class ClockEstimate;
  [[nodiscard]] std::int64_t without_drift(const DelaySample& sample) const;
};

/// Compares the clocks by the packets that both points saw. With packets in both orders, the offset is where the
/// smallest delays of both are equal; whatever the path, its error is at most half of their sum. `given_offset_ns`: an
/// offset that the user knows, which is used as it is.
[[nodiscard]] ClockModel compare_clocks(std::span<const DelaySample> samples, std::span<const LegEvidence> evidence,
                                        std::optional<std::int64_t> given_offset_ns);

}  // namespace roce::analyze
