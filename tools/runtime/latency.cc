// SPDX-License-Identifier: BSD-2-Clause
#include "runtime/latency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace roce::runtime {

namespace {

constexpr unsigned kStepBits = 6;

/// Returns the bucket of a value. Below 64 ns each has its own; above, the leading one and the six bits after it count.
[[nodiscard]] std::size_t bucket_of(std::uint64_t value) {
  const unsigned width = static_cast<unsigned>(std::bit_width(value));
  if (width <= kStepBits) return value;
  const unsigned shift = width - kStepBits - 1;
  return (std::size_t{shift + 1} << kStepBits) + ((value >> shift) & ((1U << kStepBits) - 1));
}

/// Returns the smallest value of a bucket.
[[nodiscard]] std::uint64_t start_of(std::size_t bucket) {
  const std::size_t power = bucket >> kStepBits;
  const std::uint64_t step = bucket & ((1U << kStepBits) - 1);
  return power == 0 ? step : ((std::uint64_t{1} << kStepBits) + step) << (power - 1);
}

}  // namespace

void LatencyHistogram::add(Duration latency) {
  const auto value = static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count()));
  ++counts_[std::min(bucket_of(value), counts_.size() - 1)];
  ++count_;
  min_ = std::min(min_, latency);
  max_ = std::max(max_, latency);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Duration LatencyHistogram::percentile(double share) const {
  if (count_ == 0) return Duration{0};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= std::max<std::uint64_t>(1, wanted)) {
      return std::clamp(Duration{static_cast<Duration::rep>(start_of(i + 1) - 1)}, min_, max_);
    }
  }
  return max_;
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::by_powers_of_two() const {
  std::vector<Bucket> result;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const std::uint64_t from = std::bit_floor(start_of(i));
    const Duration start{static_cast<Duration::rep>(from)};
    while (!result.empty() && result.back().to < start) {
      const Duration next = result.back().to;
      result.push_back({next, next * 2, 0});
    }
    if (result.empty() || result.back().from != start) {
      result.push_back({start, Duration{static_cast<Duration::rep>(from == 0 ? 1 : from * 2)}, 0});
    }
    result.back().count += counts_[i];
  }
  return result;
}

}  // namespace roce::runtime
