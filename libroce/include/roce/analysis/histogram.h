// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::analysis {

template <typename T>
struct StateAccess;

/// Durations counted in classes, each at most an eighth wider than its lower bound; exact below 8 ns. Merges exactly.
class Histogram {
 public:
  static constexpr std::size_t kClasses = 488;

  /// Negative durations count as 0.
  void add(Duration duration);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Duration min() const { return count_ == 0 ? Duration{} : min_; }
  [[nodiscard]] Duration max() const { return count_ == 0 ? Duration{} : max_; }
  [[nodiscard]] Duration mean() const;
  /// The duration that `fraction` (0 … 1) of all do not exceed, by at most an eighth too high; 0 without any.
  [[nodiscard]] Duration quantile(double fraction) const;

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  friend struct StateAccess<Histogram>;

  std::array<std::uint32_t, kClasses> classes_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ns_ = 0;
  Duration min_ = Duration::max();
  Duration max_ = Duration::min();
};

}  // namespace roce::analysis
