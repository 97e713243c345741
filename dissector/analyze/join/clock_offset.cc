// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/clock_offset.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/join/clock_drift.h"

namespace roce::analyze {

namespace {

std::int64_t drifted(double drift, std::int64_t time_ns) {
  return std::llround(drift * static_cast<double>(time_ns));
}

PointOrder opposite(PointOrder order) {
  return order == PointOrder::a_first   ? PointOrder::b_first
         : order == PointOrder::b_first ? PointOrder::a_first
                                        : PointOrder::unknown;
}

/// The distribution of the differences of one leg, in ns, without drift.
struct Spread {
  std::size_t count = 0;
  std::int64_t min = 0;
  std::int64_t low = 0;  ///< a twentieth of the differences is less
  std::int64_t median = 0;
  std::int64_t high = 0;  ///< a twentieth of the differences is more
  std::int64_t max = 0;

  /// Delays cluster near their smallest value, so the long tail of the scatter points to the second capture point.
  [[nodiscard]] PointOrder leans(std::size_t least_count, std::int64_t ratio) const {
    if (count < least_count) return PointOrder::unknown;
    const std::int64_t below = median - low;
    const std::int64_t above = high - median;
    if (above > ratio * below) return PointOrder::a_first;
    if (below > ratio * above) return PointOrder::b_first;
    return PointOrder::unknown;
  }
};

Spread spread_of(std::vector<std::int64_t>& differences) {
  if (differences.empty()) return {};
  std::sort(differences.begin(), differences.end());
  const std::size_t count = differences.size();
  return {count,
          differences.front(),
          differences[count / 20],
          differences[count / 2],
          differences[count - 1 - count / 20],
          differences.back()};
}

/// The order in which the two legs of a host pair pass the capture points, relative to each other.
enum class Relation : std::uint8_t { unknown, opposite, same };

constexpr std::size_t kLeastLeaning = 20;

}  // namespace

std::string_view to_string(OrderBasis basis) {
  constexpr std::array<std::string_view, 8> kNames{"none",    "changes", "given",  "round_trip",
                                                   "scatter", "offset",  "losses", "copies"};
  return kNames[static_cast<std::size_t>(basis)];
}

DifferenceTrend::DifferenceTrend(std::span<const DelaySample> samples, std::size_t legs) : leg_medians_(legs) {
  if (samples.empty()) return;
  is_known_ = true;
  reference_ns_ = samples.front().time_ns;
  const std::vector<WindowEdge> edges(legs, WindowEdge::median);
  drift_ = clock_drift(samples, edges).value_or(0);
  std::vector<std::vector<std::int64_t>> by_leg(legs);
  std::vector<std::int64_t> all;
  for (const DelaySample& sample : samples) {
    const std::int64_t rest = sample.difference_ns - drifted(drift_, sample.time_ns - reference_ns_);
    by_leg[sample.leg].push_back(rest);
    all.push_back(rest);
  }
  median_ns_ = median_of(all);
  variations_.resize(legs);
  for (std::size_t leg = 0; leg < legs; ++leg) {
    if (by_leg[leg].empty()) continue;
    const std::int64_t usual = median_of(by_leg[leg]);
    const auto [least, greatest] = std::ranges::minmax(by_leg[leg]);
    leg_medians_[leg] = usual;
    variations_[leg] = {usual - least, greatest - usual};
    variation_ = {std::max(variation_.less, usual - least), std::max(variation_.more, greatest - usual)};
  }
}

DelayVariation DifferenceTrend::variation(std::uint32_t leg) const {
  return leg < leg_medians_.size() && leg_medians_[leg] ? variations_[leg] : variation_;
}

std::int64_t DifferenceTrend::median(std::uint32_t leg) const {
  return leg < leg_medians_.size() ? leg_medians_[leg].value_or(median_ns_) : median_ns_;
}

std::int64_t DifferenceTrend::at_time_a(std::int64_t time_ns, std::uint32_t leg) const {
  return median(leg) + drifted(drift_, time_ns - reference_ns_);
}

std::int64_t DifferenceTrend::at_time_b(std::int64_t time_ns, std::uint32_t leg) const {
  return at_time_a(time_ns - median(leg), leg);
}

std::int64_t ClockModel::without_drift(const DelaySample& sample) const {
  return sample.difference_ns - drifted(drift.value_or(0), sample.time_ns - reference_ns);
}

std::optional<std::int64_t> ClockModel::delay(const DelaySample& sample) const {
  const PointOrder order = legs[sample.leg].order;
  const std::int64_t difference = without_drift(sample);
  if (order == PointOrder::a_first && (offset_ns || smallest_a_first_ns)) {
    return difference - offset_ns.value_or(smallest_a_first_ns.value_or(0));
  }
  if (order == PointOrder::b_first && (offset_ns || largest_b_first_ns)) {
    return offset_ns.value_or(largest_b_first_ns.value_or(0)) - difference;
  }
  return std::nullopt;
}

std::optional<std::int64_t> ClockModel::on_clock_a(std::int64_t time_ns) const {
  if (!offset_ns) return std::nullopt;
  const std::int64_t near = time_ns - *offset_ns;
  return near - drifted(drift.value_or(0), near - reference_ns);
}

class ClockEstimate {
 public:
  ClockEstimate(std::span<const DelaySample> samples, std::span<const LegEvidence> evidence,
                std::optional<std::int64_t> given_offset_ns)
      : samples_(samples), evidence_(evidence) {
    model_.legs.resize(evidence.size());
    model_.offset_ns = given_offset_ns;
    model_.is_given = given_offset_ns.has_value();
    for (const DelaySample& sample : samples) {
      if (&sample == &samples.front() || sample.time_ns < model_.reference_ns) model_.reference_ns = sample.time_ns;
    }
  }

  ClockModel finish() && {
    take_drift(WindowEdge::median, WindowEdge::median);
    order_legs();
    if (take_drift(WindowEdge::smallest, WindowEdge::largest)) order_legs();
    take_offset();
    order_rest();
    return std::move(model_);
  }

 private:
  /// Estimates the drift again. True if it has changed.
  bool take_drift(WindowEdge a_first, WindowEdge b_first) {
    std::vector<WindowEdge> edges;
    edges.reserve(model_.legs.size());
    for (const LegOrder& leg : model_.legs) {
      edges.push_back(leg.order == PointOrder::a_first   ? a_first
                      : leg.order == PointOrder::b_first ? b_first
                                                         : WindowEdge::median);
    }
    const std::optional<double> before = model_.drift;
    model_.drift = clock_drift(samples_, edges);
    std::vector<std::vector<std::int64_t>> by_leg(model_.legs.size());
    for (const DelaySample& sample : samples_) by_leg[sample.leg].push_back(model_.without_drift(sample));
    spreads_.clear();
    for (std::vector<std::int64_t>& differences : by_leg) spreads_.push_back(spread_of(differences));
    return model_.drift != before;
  }

  void order_legs() {
    std::fill(model_.legs.begin(), model_.legs.end(), LegOrder{});
    for (std::uint32_t leg = 0; leg < model_.legs.size(); ++leg) {
      const std::uint32_t reverse = evidence_[leg].reverse;
      if (reverse == kNoLeg) {
        model_.legs[leg] = own_order(leg);
      } else if (leg < reverse) {
        order_pair(leg, reverse);
      }
    }
  }

  [[nodiscard]] LegOrder own_order(std::uint32_t leg) const {
    const LegEvidence& known = evidence_[leg];
    if ((known.changed_behind_a != 0) != (known.changed_behind_b != 0)) {
      return {known.changed_behind_a != 0 ? PointOrder::a_first : PointOrder::b_first, OrderBasis::changes};
    }
    const Spread& spread = spreads_[leg];
    if (model_.is_given && spread.count != 0 && spread.median != *model_.offset_ns) {
      return {spread.median > *model_.offset_ns ? PointOrder::a_first : PointOrder::b_first, OrderBasis::given};
    }
    const PointOrder leaning = spread.leans(kLeastLeaning, 2);
    return {leaning, leaning == PointOrder::unknown ? OrderBasis::none : OrderBasis::scatter};
  }

  void order_pair(std::uint32_t leg, std::uint32_t reverse) {
    LegOrder& forth = model_.legs[leg];
    LegOrder& back = model_.legs[reverse];
    forth = own_order(leg);
    back = own_order(reverse);
    const Relation relation = relation_of(leg, reverse);
    if (relation == Relation::unknown || (is_certain(forth) && is_certain(back))) return;
    if (is_certain(forth) || is_certain(back)) {
      const LegOrder& teacher = is_certain(forth) ? forth : back;
      LegOrder& learner = is_certain(forth) ? back : forth;
      learner = relation == Relation::same ? teacher : LegOrder{opposite(teacher.order), OrderBasis::round_trip};
    } else if (relation == Relation::opposite) {
      // The round trip between the points takes time, so the leg that passes A first has the larger difference.
      const bool is_forth = spreads_[leg].median > spreads_[reverse].median;
      forth = {is_forth ? PointOrder::a_first : PointOrder::b_first, OrderBasis::round_trip};
      back = {opposite(forth.order), OrderBasis::round_trip};
    } else if (forth.order == PointOrder::unknown) {
      forth = back;
    } else if (back.order == PointOrder::unknown) {
      back = forth;
    } else if (forth.order != back.order) {
      forth = back = {};
    }
  }

  static bool is_certain(const LegOrder& leg) {
    return leg.basis == OrderBasis::changes || leg.basis == OrderBasis::given;
  }

  [[nodiscard]] Relation relation_of(std::uint32_t leg, std::uint32_t reverse) const {
    const Spread& x = spreads_[leg];
    const Spread& y = spreads_[reverse];
    if (x.count == 0 || y.count == 0) return Relation::unknown;
    const bool is_apart = x.low > y.high || y.low > x.high;
    // The differences of both legs scatter around one value: no round trip lies between them.
    if (!is_apart) return Relation::same;
    // A queue in one direction only looks like a round trip, but then both legs scatter to the same side.
    const PointOrder leaning = x.leans(2 * kLeastLeaning, 2);
    if (leaning != PointOrder::unknown && leaning == y.leans(2 * kLeastLeaning, 2)) return Relation::same;
    return Relation::opposite;
  }

  void take_offset() {
    std::optional<std::int64_t>& smallest = model_.smallest_a_first_ns;
    std::optional<std::int64_t>& largest = model_.largest_b_first_ns;
    for (std::size_t leg = 0; leg < model_.legs.size(); ++leg) {
      const Spread& spread = spreads_[leg];
      if (spread.count == 0) continue;
      if (model_.legs[leg].order == PointOrder::a_first) smallest = std::min(smallest.value_or(spread.min), spread.min);
      if (model_.legs[leg].order == PointOrder::b_first) largest = std::max(largest.value_or(spread.max), spread.max);
    }
    if (model_.is_given || !smallest || !largest) return;
    const std::int64_t round_trip = *smallest - *largest;
    model_.offset_ns = *largest + round_trip / 2;
    model_.is_contradictory = round_trip < 0;
    model_.uncertainty_ns = std::abs(round_trip / 2);
  }

  /// Losses point to the point that has the packets, copies to the one that has them not.
  static LegOrder order_by_singles(const LegEvidence& seen) {
    const bool says_a = seen.only_a != 0 || seen.copies_b != 0;
    const bool says_b = seen.only_b != 0 || seen.copies_a != 0;
    if (says_a == says_b) return {};
    const bool are_lost = seen.only_a != 0 || seen.only_b != 0;
    return {says_a ? PointOrder::a_first : PointOrder::b_first, are_lost ? OrderBasis::losses : OrderBasis::copies};
  }

  /// Orders the legs for which there is no better evidence.
  void order_rest() {
    for (std::size_t leg = 0; leg < model_.legs.size(); ++leg) {
      LegOrder& known = model_.legs[leg];
      if (known.order != PointOrder::unknown) continue;
      const Spread& spread = spreads_[leg];
      const LegEvidence& seen = evidence_[leg];
      if (model_.offset_ns && !model_.is_contradictory && spread.count != 0 &&
          std::abs(spread.median - *model_.offset_ns) > model_.uncertainty_ns) {
        known = {spread.median > *model_.offset_ns ? PointOrder::a_first : PointOrder::b_first, OrderBasis::offset};
      } else {
        known = order_by_singles(seen);
        if (known.order == PointOrder::unknown) continue;
      }
      if (model_.is_given || model_.offset_ns || spread.count == 0) continue;
      std::optional<std::int64_t>& edge =
          known.order == PointOrder::a_first ? model_.smallest_a_first_ns : model_.largest_b_first_ns;
      const bool is_a_first = known.order == PointOrder::a_first;
      const std::int64_t own = is_a_first ? spread.min : spread.max;
      edge = !edge ? own : is_a_first ? std::min(*edge, own) : std::max(*edge, own);
    }
  }

  std::span<const DelaySample> samples_;
  std::span<const LegEvidence> evidence_;
  ClockModel model_;
  std::vector<Spread> spreads_;
};

ClockModel compare_clocks(std::span<const DelaySample> samples, std::span<const LegEvidence> evidence,
                          std::optional<std::int64_t> given_offset_ns) {
  return ClockEstimate{samples, evidence, given_offset_ns}.finish();
}

}  // namespace roce::analyze
