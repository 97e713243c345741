// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "roce/link/link.h"
#include "roce/live/metrics.h"

namespace roce::live {

/// Returns the rows of a link's counters, one for each counter.
[[nodiscard]] std::span<const CounterRow<link::LinkCounters>> link_counter_rows();

}  // namespace roce::live
