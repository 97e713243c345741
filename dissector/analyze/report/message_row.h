// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/names/names.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/analysis_run.h"
#include "roce/analysis/stream_summary.h"
#include "text/terminal.h"
#include "text/text_table.h"

namespace roce::analyze {

/// Everything that says where a message was.
struct MessagePlaces {
  const StreamEnds& ends;
  const SeenFiles& files;
  const Names& names;
  text::Charset charset{};
  std::optional<std::int64_t> start_ns;  ///< of the capture
};

/// The columns of `messages`, those for programs last.
[[nodiscard]] std::vector<text::TableColumn> message_row_columns();
/// Returns a cell for each column.
[[nodiscard]] std::vector<text::TableCell> message_row(const analysis::Message& message, const MessagePlaces& places);
/// Returns the row as `messages --json` has it.
[[nodiscard]] OrderedJson message_json(const analysis::Message& message, const MessagePlaces& places);

}  // namespace roce::analyze
