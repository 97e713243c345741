// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/report/summary_format.h"
#include "text/text_table.h"

namespace roce::analyze {

/// Builds a table with one row for each direction whose data was marked or slowed, the most affected first. At most
/// `view.top` rows; 0: all.
[[nodiscard]] text::TextTable congestion_table(const SummaryView& view, text::Charset charset);
/// Builds a table with one row for each station and priority for which PFC or PAUSE frames asked for silence, the most
/// frequent first. At most `view.top` rows; 0: all.
[[nodiscard]] text::TextTable pause_table(const SummaryView& view);

}  // namespace roce::analyze
