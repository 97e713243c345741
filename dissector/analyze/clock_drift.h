// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "analyze/clock_offset.h"

namespace roce::analyze {

/// Which differences of a window speak for it: those of the fastest packets tell a drift best.
enum class WindowEdge : std::uint8_t { median, smallest, largest };

/// What the differences of `samples` grow by, in parts of one: the median slope (Theil-Sen) between windows of the same
/// leg. `edges`: of each leg. None if the samples do not last a second or the slope does not stand out of their
/// scatter.
[[nodiscard]] std::optional<double> clock_drift(std::span<const DelaySample> samples,
                                                std::span<const WindowEdge> edges);

/// The middle of `values`, which it reorders; they may not be empty.
template <typename Values>
[[nodiscard]] auto median_of(Values& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace roce::analyze
