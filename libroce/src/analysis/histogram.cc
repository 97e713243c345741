// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace roce::analysis {

namespace {

// Eight classes for each power of two; below eight nanoseconds each has its own.
std::size_t class_of(std::uint64_t ns) {
  if (ns < 8) return static_cast<std::size_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 4;
  return (shift + 1) * std::size_t{8} + static_cast<std::size_t>(ns >> shift & 7);
}

std::uint64_t end_of(std::size_t index) {
  if (index < 8) return index;
  const std::size_t shift = index / 8 - 1;
  return ((8 + index % 8 + std::uint64_t{1}) << shift) - 1;
}

}  // namespace

void Histogram::add(Duration duration) {
  duration = std::max(duration, Duration{});
  const auto ns = static_cast<std::uint64_t>(duration.count());
  ++classes_[class_of(ns)];
  ++count_;
  sum_ns_ += ns;
  min_ = std::min(min_, duration);
  max_ = std::max(max_, duration);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < kClasses; ++i) classes_[i] += other.classes_[i];
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Duration Histogram::mean() const {
  return count_ == 0 ? Duration{} : Duration{static_cast<Duration::rep>(sum_ns_ / count_)};
}

Duration Histogram::quantile(double fraction) const {
  if (count_ == 0) return Duration{};
  const auto rank = static_cast<std::uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kClasses; ++i) {
    below += classes_[i];
    if (below >= std::max<std::uint64_t>(rank, 1)) {
      return std::clamp(Duration{static_cast<Duration::rep>(end_of(i))}, min_, max_);
    }
  }
  return max_;
}

}  // namespace roce::analysis
