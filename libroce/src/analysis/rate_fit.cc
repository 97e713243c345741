// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/rate_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roce::analysis {

namespace {

/// Smaller changes are none.
constexpr double kLeast = 0.06;
/// A change has to be so many times as large as what the windows of a rate that does not change differ by, and those
/// differ by so much of what one packet does.
constexpr double kAboveVariation = 4;
constexpr double kOfWindows = 2.0 / RateFit::kWindow;
/// Weight of a packet in the variation.
constexpr double kNewest = 1.0 / 32;
/// A sender is idle if nothing comes for so many times as long as usual, and for longer than this.
constexpr double kIdle = 20;
constexpr Duration kLeastIdle{20'000};
/// A cut is not the answer to an older CNP.
constexpr Duration kLatest{1'000'000};

[[nodiscard]] double ns_a_byte(Duration time, std::uint64_t bytes) {
  return static_cast<double>(time.count()) / static_cast<double>(std::max<std::uint64_t>(bytes, 1));
}

[[nodiscard]] double rate_of(double ns_a_byte) {
  return ns_a_byte == 0 ? 0 : 8e9 / ns_a_byte;
}

}  // namespace

double RateFit::Change::size() const {
  return std::abs(after - before) / mean();
}

void RateFit::add(Time time, std::uint32_t length) {
  if (packets_ != 0) {
    const Duration gap = time - recent(0).time;
    if (gap < Duration::zero()) return;
    const std::size_t back = std::min<std::size_t>(packets_ - 1, kWindow);
    const Sent& earlier = recent(back);
    const double usual = ns_a_byte(recent(0).time - earlier.time, bytes_ - earlier.bytes) * last_length_;
    const bool is_idle = back != 0 && gap > kLeastIdle && static_cast<double>(gap.count()) > kIdle * usual;
    bytes_ += last_length_;
    if (is_idle) {
      const Sent end = recent(0);
      if (change_) take(*change_);
      end_step(end);
      if (cnps_ != 0 && steps_.size() < kMostSteps) steps_.push_back({end.time, 0});
      packets_ = 0;
    }
  }
  const bool is_first = packets_ == 0;
  const Sent sent{time, bytes_};
  sent_[packets_++ % sent_.size()] = sent;
  ++all_packets_;
  last_length_ = length;
  if (is_first) {
    begin_step(sent);
    changed_ = time;
    return;
  }
  if (cnps_ != 0 && time - latest_cnps_[(cnps_ - 1) % latest_cnps_.size()].time > kLatest) judge_last_cnp();
  if (packets_ >= sent_.size() && recent(2 * kWindow).bytes >= begin_.bytes) look_for_change();
}

void RateFit::begin_step(const Sent& at) {
  begin_ = at;
  change_.reset();
}

void RateFit::end_step(const Sent& at) {
  if (at.time <= begin_.time || steps_.size() == kMostSteps) return;
  const RateStep step{begin_.time, rate_of(ns_a_byte(at.time - begin_.time, at.bytes - begin_.bytes))};
  if (cnps_ == 0) {
    unasked_step_ = step;
  } else {
    steps_.push_back(step);
  }
}

std::optional<RateStep> RateFit::last_step() const {
  if (cnps_ == 0 || packets_ < kWindow || recent(0).time <= begin_.time) return std::nullopt;
  return RateStep{begin_.time, rate_of(ns_a_byte(recent(0).time - begin_.time, recent(0).bytes - begin_.bytes))};
}

double RateFit::deviation(std::size_t back, double mean) const {
  const Sent& from = recent(back + 1);
  const Sent& to = recent(back);
  const double relative = ns_a_byte(to.time - from.time, to.bytes - from.bytes) / mean - 1;
  return relative * relative;
}

void RateFit::look_for_change() {
  const Sent& from = recent(2 * kWindow);
  const Sent& middle = recent(kWindow);
  const Sent& to = recent(0);
  Change seen{middle, ns_a_byte(middle.time - from.time, middle.bytes - from.bytes),
              ns_a_byte(to.time - middle.time, to.bytes - middle.bytes), kWindow / 2};
  // Frames with the same time, in captures whose clock is coarse, have no rate.
  if (seen.before == 0 || seen.after == 0) return;
  if (!change_) {
    if (!variation_) {
      double sum = 0;
      for (std::size_t back = 0; back < 2 * kWindow; ++back) sum += deviation(back, seen.mean());
      variation_ = sum / (2 * kWindow);
    }
    const double least = std::max(kLeast, kAboveVariation * std::sqrt(kOfWindows * *variation_));
    if (seen.size() > least) {
      change_ = seen;
      return;
    }
    *variation_ += (deviation(0, seen.mean()) - *variation_) * kNewest;
    // Many changes, each too small, or too soon after the one before, to be seen alone.
    const Change drift{middle, ns_a_byte(middle.time - begin_.time, middle.bytes - begin_.bytes), seen.after};
    if (drift.size() > least) {
      end_step(middle);
      begin_step(middle);
    }
    return;
  }
  if (seen.is_slower() == change_->is_slower() && seen.size() > change_->size()) {
    change_ = seen;
  } else if (--change_->patience == 0) {
    take(*change_);
  }
}

void RateFit::take(const Change& change) {
  end_step(change.at);
  if (change.is_slower()) {
    last_slower_ = change;
    take_cut(change);
  } else {
    const bool is_after_cnp = cnps_ != 0 && latest_cnps_[(cnps_ - 1) % latest_cnps_.size()].time >= changed_;
    if (cnps_ != 0 && !is_after_cnp && rises_.size() < kMostCuts) {
      rises_.push_back({change.at.time - changed_, rate_of(change.after) - rate_of(change.before)});
    }
  }
  changed_ = change.at.time;
  begin_step(change.at);
}

void RateFit::take_cut(const Change& change) {
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(cnps_, latest_cnps_.size()); ++back) {
    Cnp& cnp = latest_cnps_[(cnps_ - back) % latest_cnps_.size()];
    // It came later.
    if (cnp.time > change.at.time) continue;
    const Duration late = change.at.time - cnp.time;
    if (cnp.has_cut || late > kLatest) return;
    cnp.has_cut = true;
    if (cuts_.size() < kMostCuts) cuts_.push_back({cnp.time, late, change.before / change.after});
    return;
  }
}

void RateFit::absorb(RateFit other) {
  if (other.all_packets_ > all_packets_) std::swap(*this, other);
  const std::uint64_t count = std::min<std::uint64_t>(other.cnps_, latest_cnps_.size());
  for (std::uint64_t back = count; back > 0; --back) {
    on_cnp(other.latest_cnps_[(other.cnps_ - back) % latest_cnps_.size()].time);
  }
}

void RateFit::on_cnp(Time time) {
  judge_last_cnp();
  latest_cnps_[cnps_++ % latest_cnps_.size()] = {time, all_packets_};
  // Of a connection whose ends were not yet known to be one a CNP may come to light after what it has done.
  if (!last_slower_ || last_slower_->at.time < time) return;
  if (unasked_step_) steps_.push_back(*std::exchange(unasked_step_, std::nullopt));
  take_cut(*last_slower_);
}

void RateFit::judge_last_cnp() {
  if (cnps_ == 0) return;
  Cnp& last = latest_cnps_[(cnps_ - 1) % latest_cnps_.size()];
  if (last.is_judged || all_packets_ - last.packets < 4 * kWindow) return;
  last.is_judged = true;
  if (!last.has_cut) ++without_cut_;
}

}  // namespace roce::analysis
