// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <exception>
#include <span>
#include <stdexcept>

#include "analyze/ranks/communicator.h"
#include "analyze/session/analysis_session.h"

namespace roce::analyze {

/// The ranks agreed not to run; the text says why. Every rank throws it.
class RunRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This rank has sent what it found out, and its command is over: rank 0 has the results. Every other rank throws it.
struct ShareSent : std::exception {};

/// Shares a run among the ranks: whole capture points, or, of those that are too large for one rank, pairs of hosts in
/// 1,024 virtual shards. Each rank reads all files and follows its own part; rank 0 puts together what all found out,
/// which is the result of one process. Nothing is sent meanwhile.
class RankedRun final : public AnalysisEngine {
 public:
  explicit RankedRun(const Communicator& ranks) : ranks_(ranks) {}

  /// All ranks, with the same command line. Returns at rank 0 alone.
  [[nodiscard]] AnalysisResult run(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                   AnalysisConsumer& consumer) override;
  /// Tells the others, if the command of this rank ended without a run, so that they do not wait for it. All ranks, at
  /// the end.
  void leave();

 private:
  void agree(std::span<const InputFile> inputs);

  const Communicator& ranks_;
  bool has_met_ = false;
};

}  // namespace roce::analyze
