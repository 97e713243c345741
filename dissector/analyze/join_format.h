// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "analyze/analysis_run.h"
#include "analyze/join_model.h"
#include "analyze/name_file.h"
#include "analyze/text_table.h"

namespace roce::analyze {

class AnalysisSession;

/// What is shown of two joined captures.
struct JoinView {
  const JoinSide& a;
  const JoinSide& b;
  const AnalysisResult& read_a;  ///< of the capture at A: its files and counts
  const AnalysisResult& read_b;
  const FlowTable& flows;
  const JoinResult& result;
  const NameFile& names;
  std::size_t top = 10;  ///< flows at most; 0: all
};

/// `A -> B`, `B -> A`, `unknown`
[[nodiscard]] std::string way_text(Way way, Charset charset);
/// `192.0.2.1 -> 192.0.2.2 0x12`
[[nodiscard]] std::string flow_text(const SeenFlow& flow, const NameFile& names, Charset charset);
/// The whole in a sentence: what died, or that nothing did.
[[nodiscard]] std::string join_headline(const JoinView& view, Charset charset);
/// What is known of the clocks, and what is not, in a sentence.
[[nodiscard]] std::string clock_text(const JoinView& view, Charset charset);
/// What has to be known to read the numbers right: what the captures lack, what could not be judged.
[[nodiscard]] std::vector<std::string> join_caveats(const JoinView& view, Charset charset);

/// Appends the result for people: one screen.
void append_join_text(TextBuffer& out, const JoinView& view, const TextTable::Layout& layout);
/// Appends it as one JSON object, one line.
void append_join_json(TextBuffer& out, const JoinView& view);
/// Writes a row for each packet to which something happened, in the form that the session asks for.
void write_packet_fates(AnalysisSession& session, const JoinView& view, const std::set<Fate>& wanted);

}  // namespace roce::analyze
