// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// A sentence of the summary.
struct Statement {
  analysis::Severity severity{};
  std::string text;
};

/// A part of a run that is judged by itself: what one capture point saw, or everything. What it refers to must outlive
/// it.
struct JudgedPart {
  const AnalysisResult& result;
  const VerdictTotals& verdicts;
  std::optional<std::uint16_t> point{};  ///< not set: all points

  [[nodiscard]] bool has(const analysis::StreamSummary& stream) const { return !point || stream.point == *point; }
};

/// Returns what the packets of a part show, the most important first; nothing if there is nothing to say.
[[nodiscard]] std::vector<Statement> statements_about_packets(const JudgedPart& part);

/// Returns what is said of a capture as a whole: pauses, and whether it was only sampled.
[[nodiscard]] std::vector<Statement> statements_about_capture(const AnalysisResult& result);

}  // namespace roce::analyze
