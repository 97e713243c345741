// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "analyze/capture_intake.h"
#include "analyze/counting_consumer.h"
#include "analyze/hand_over.h"
#include "analyze/pause_watch.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// What every way to run an analysis has, and how it begins and ends.
struct RunState {
  /// Everything must outlive it.
  RunState(std::span<const InputFile> inputs, const AnalysisRunOptions& run_options, AnalysisConsumer& each_finding_to);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Everything that was read was followed.
  [[nodiscard]] AnalysisResult finish();

  const AnalysisRunOptions& options;
  CountingConsumer consumer;
  AnalysisResult result;
  CaptureIntake intake;
  analysis::TrackerShards shards;
  HandOver hand_over;
  PauseWatch pause;
  std::vector<analysis::StreamSummary> closed;  ///< in runs before

 private:
  void carry(CarriedState& state);
};

}  // namespace roce::analyze
