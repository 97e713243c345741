// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roce/analysis/lazy.h"
#include "roce/wire/time.h"

namespace roce::analysis {

template <typename T>
struct StateAccess;

/// Counts of durations in classes, each at most an eighth wider than its lower bound; exact below 8 ns.
/// Merging is exact. Takes memory for the classes between the shortest and the longest duration.
class Histogram {
 public:
  static constexpr std::size_t kClasses = 488;

  /// Counts a duration; a negative one as 0.
  void add(Duration duration);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const { return counted_->count; }
  [[nodiscard]] Duration min() const { return count() == 0 ? Duration{} : counted_->min; }
  [[nodiscard]] Duration max() const { return count() == 0 ? Duration{} : counted_->max; }
  [[nodiscard]] Duration mean() const;
  /// Returns the duration that `fraction` (0 … 1) of all do not exceed, at most an eighth too high; 0 if empty.
  [[nodiscard]] Duration quantile(double fraction) const;

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  friend struct StateAccess<Histogram>;

  struct Counted {
    std::uint64_t count = 0;
    std::uint64_t sum_ns = 0;
    Duration min = Duration::max();
    Duration max = Duration::min();
    std::size_t first_class = 0;
    std::vector<std::uint32_t> classes{};  ///< from `first_class` through the class of the longest

    [[nodiscard]] std::uint32_t& at(std::size_t index);

    friend bool operator==(const Counted&, const Counted&) = default;
  };

  Lazy<Counted> counted_;
};

}  // namespace roce::analysis
