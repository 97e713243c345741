// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "analyze/join/clock_offset.h"

namespace roce::analyze {

/// The difference that represents a window. Those of the fastest packets show a drift best.
enum class WindowEdge : std::uint8_t { median, smallest, largest };

/// Returns the growth of the differences of `samples`, in parts of one: the median slope (Theil-Sen) between windows of
/// the same leg. `edges` has one entry for each leg. Returns nothing if the samples span less than a second or if the
/// slope does not stand out from their scatter.
[[nodiscard]] std::optional<double> clock_drift(std::span<const DelaySample> samples,
                                                std::span<const WindowEdge> edges);

/// Returns the middle value of `values`, which it reorders and which must not be empty.
template <typename Values>
[[nodiscard]] auto median_of(Values& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace roce::analyze
