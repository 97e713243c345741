// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/summary_format.h"
#include "analyze/text_table.h"

namespace roce::analyze {

/// One row for each direction whose data was marked or slowed, those with the most first: at most `view.top`, all if
/// that is 0.
[[nodiscard]] TextTable congestion_table(const SummaryView& view, Charset charset);
/// One row for each station and priority that PFC or PAUSE frames asked silence for, the most often first; at most
/// `view.top`, all if that is 0.
[[nodiscard]] TextTable pause_table(const SummaryView& view);

}  // namespace roce::analyze
