// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyze/ranks/communicator.h"
#include "analyze/ranks/job_state.h"
#include "analyze/session/analysis_session.h"

namespace roce::analyze {

/// The ranks agreed not to run; the text says why. Every rank throws it.
class RunRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This rank has sent what it found out, and its command is over: rank 0 has the results. Every other rank throws it.
struct ShareSent : std::exception {};

/// Whether the work is divided into shares that are kept, but for the first one, which rank 0 always follows.
struct KeptShares {
  std::string folder;         ///< of the `JobState`; empty: a share for each rank, sent to rank 0
  std::uint32_t shares = 16;  ///< 1 … `JobState::kMostShares`
  std::string command;        ///< command line: what decides what the shares are
};

/// Shares a run among the ranks: whole capture points, or, of those that are too large for one rank, pairs of hosts in
/// 1,024 virtual shards. Each rank reads all files and follows its own part; rank 0 puts together what all found out,
/// which is the result of one process. Nothing is sent meanwhile.
class RankedRun final : public AnalysisEngine {
 public:
  /// `kept` is looked at when the run begins.
  RankedRun(const Communicator& ranks, const KeptShares& kept) : ranks_(ranks), kept_(kept) {}

  /// All ranks, with the same command line. Returns at rank 0 alone.
  [[nodiscard]] AnalysisResult run(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                   AnalysisConsumer& consumer) override;
  /// Tells the others, if the command of this rank ended without a run, so that they do not wait for it. All ranks, at
  /// the end.
  void leave();

 private:
  /// Returns the shares of this rank.
  [[nodiscard]] std::vector<unsigned> agree(std::span<const InputFile> inputs);

  const Communicator& ranks_;
  const KeptShares& kept_;
  std::optional<JobState> state_;
  bool has_met_ = false;
};

}  // namespace roce::analyze
