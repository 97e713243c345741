// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>

#include "analyze/run/capture_intake.h"
#include "analyze/run/counting_consumer.h"
#include "analyze/run/hand_over.h"
#include "analyze/run/kept_streams.h"
#include "analyze/run/pause_watch.h"
#include "roce/analysis/reachability.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// The state common to the serial and the parallel run, and how a run begins and ends.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members that several threads write are kept apart.
struct RunState {
  /// All arguments must outlive the object.
  RunState(std::span<const InputFile> inputs, const AnalysisRunOptions& run_options, AnalysisConsumer& each_finding_to);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Collects the streams that have ended. Their findings must have been handed over.
  void keep_ended();
  /// Ends the run and returns its result. Everything that was read must have been followed.
  [[nodiscard]] AnalysisResult finish();
  /// Returns the result that the run would have if its input ended here. The findings so far must have been handed
  /// over.
  [[nodiscard]] AnalysisResult so_far(AnalysisConsumer& end);

  /// Data that one thread writes for each frame must not share a cache line with data that another one uses meanwhile.
  static constexpr std::size_t kApart = 128;

  const AnalysisRunOptions& options;
  CountingConsumer consumer;
  alignas(kApart) AnalysisResult result;
  CaptureIntake intake;
  alignas(kApart) analysis::TrackerShards shards;
  HandOver hand_over;
  alignas(kApart) PauseWatch pause;
  analysis::ReachSurvey reach;
  KeptStreams kept;  ///< streams that have ended, including those of earlier runs

 private:
  void forget(std::uint32_t stream);
  void take_findings();
  void save_into(CarriedState& state, std::size_t most_closed);
  void add_open(const std::vector<analysis::StreamSummary>& open);

  std::vector<analysis::StreamSummary> ended_;  ///< empty between two calls
};

}  // namespace roce::analyze
