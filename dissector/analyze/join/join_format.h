// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "analyze/join/join_model.h"
#include "analyze/names/names.h"
#include "analyze/run/analysis_run.h"
#include "text/text_table.h"

namespace roce::analyze {

class AnalysisSession;

/// Everything that the output about two joined captures is made of.
struct JoinView {
  const JoinSide& a;
  const JoinSide& b;
  const AnalysisResult& read_a;  ///< files and counts of the capture at A
  const AnalysisResult& read_b;
  const FlowTable& flows;
  const JoinResult& result;
  const Names& names;
  std::size_t top = 10;  ///< number of flows shown at most; 0: all
};

/// `A -> B`, `B -> A`, `unknown`
[[nodiscard]] std::string way_text(Way way, text::Charset charset);
/// `192.0.2.1 -> 192.0.2.2 0x12`
[[nodiscard]] std::string flow_text(const SeenFlow& flow, const Names& names, text::Charset charset);
/// Returns the result as a sentence: the packets that were lost or damaged, or that there were none.
[[nodiscard]] std::string join_headline(const JoinView& view, text::Charset charset);
/// Returns what is known about the clocks, and what is not, as a sentence.
[[nodiscard]] std::string clock_text(const JoinView& view, text::Charset charset);
/// Returns what a reader has to know about the numbers: what the captures lack, what could not be judged.
[[nodiscard]] std::vector<std::string> join_caveats(const JoinView& view, text::Charset charset);

/// Appends the result for people: one screen.
void append_join_text(text::TextBuffer& out, const JoinView& view, const text::TextTable::Layout& layout);
/// Appends the result as one JSON object on one line.
void append_join_json(text::TextBuffer& out, const JoinView& view);
/// Writes a row for each packet to which something happened, in the format that the session's options select.
void write_packet_fates(AnalysisSession& session, const JoinView& view, const std::set<Fate>& wanted);

}  // namespace roce::analyze
