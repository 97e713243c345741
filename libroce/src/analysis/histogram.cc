// SPDX-License-Identifier: BSD-2-Clause
// Histograms of times: eight classes for each power of two.
#include "roce/analysis/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace roce::analysis {

namespace {

// Returns the class: eight for each power of two; each value below eight nanoseconds has its own.
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

// Returns the count of the class, and makes room for it if necessary.
std::uint32_t& Histogram::Counted::at(std::size_t index) {
  if (classes.empty()) first_class = index;
  if (index < first_class) {
    classes.insert(classes.begin(), first_class - index, 0);
    first_class = index;
  } else if (index - first_class >= classes.size()) {
    classes.resize(index - first_class + 1);
  }
  return classes[index - first_class];
}

void Histogram::add(Duration duration) {
  duration = std::max(duration, Duration{});
  const auto ns = static_cast<std::uint64_t>(duration.count());
  Counted& counted = counted_.make();
  ++counted.at(class_of(ns));
  ++counted.count;
  counted.sum_ns += ns;
  counted.min = std::min(counted.min, duration);
  counted.max = std::max(counted.max, duration);
}

void Histogram::merge(const Histogram& other) {
  if (other.count() == 0) return;
  const Counted& more = *other.counted_;
  Counted& counted = counted_.make();
  for (std::size_t i = 0; i < more.classes.size(); ++i) counted.at(more.first_class + i) += more.classes[i];
  counted.count += more.count;
  counted.sum_ns += more.sum_ns;
  counted.min = std::min(counted.min, more.min);
  counted.max = std::max(counted.max, more.max);
}

Duration Histogram::mean() const {
  return count() == 0 ? Duration{} : Duration{static_cast<Duration::rep>(counted_->sum_ns / counted_->count)};
}

Duration Histogram::quantile(double fraction) const {
  if (count() == 0) return Duration{};
  const Counted& counted = *counted_;
  const auto rank =
      static_cast<std::uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(counted.count)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counted.classes.size(); ++i) {
    below += counted.classes[i];
    if (below >= std::max<std::uint64_t>(rank, 1)) {
      return std::clamp(Duration{static_cast<Duration::rep>(end_of(counted.first_class + i))}, counted.min,
                        counted.max);
    }
  }
  return counted.max;
}

}  // namespace roce::analysis
