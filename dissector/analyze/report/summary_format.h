// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "analyze/names/names.h"
#include "analyze/run/summary_model.h"
#include "text/text_table.h"

namespace roce::analyze {

/// Everything that a summary is made from.
struct SummaryView {
  const AnalysisResult& result;
  const Summary& summary;
  const Names& names;
  std::size_t top = 10;  ///< number of streams shown at most; 0: all
};

/// Appends the summary for people: one screen, the worst first.
void append_summary_text(text::TextBuffer& out, const SummaryView& view, const text::TextTable::Layout& layout);
/// Returns the summary as JSON.
[[nodiscard]] nlohmann::ordered_json summary_json(const SummaryView& view);
/// Appends the summary as one JSON object on one line.
void append_summary_json(text::TextBuffer& out, const SummaryView& view);

}  // namespace roce::analyze
