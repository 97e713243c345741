// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// A number or name that a statement rests on.
struct StatementFact {
  std::string_view name;  ///< with its unit, as in `since_ns`
  std::variant<std::uint64_t, std::int64_t, std::string> value;
};

/// A sentence of the summary.
struct Statement {
  analysis::Severity severity{};
  std::string text;
  std::string_view cause{};            ///< name of the cause that it names; most name none
  std::vector<StatementFact> facts{};  ///< with `cause`
};

/// A part of a run that is judged by itself: what one capture point saw, or everything. What it refers to must outlive
/// it.
struct JudgedPart {
  const AnalysisResult& result;
  const VerdictTotals& verdicts;
  std::vector<std::reference_wrapper<const analysis::StreamSummary>> streams{};  ///< its own, in order of their numbers
  std::optional<std::uint16_t> point{};                                          ///< not set: all points
};

/// Returns what the packets of a part show, the most important first; nothing if there is nothing to say.
[[nodiscard]] std::vector<Statement> statements_about_packets(const JudgedPart& part);

/// Returns what is said of a capture as a whole: pauses, and whether it was only sampled.
[[nodiscard]] std::vector<Statement> statements_about_capture(const AnalysisResult& result);

}  // namespace roce::analyze
