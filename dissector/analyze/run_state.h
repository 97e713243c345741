// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <span>

#include "analyze/capture_intake.h"
#include "analyze/counting_consumer.h"
#include "analyze/hand_over.h"
#include "analyze/kept_streams.h"
#include "analyze/pause_watch.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// What every way to run an analysis has, and how it begins and ends.
struct RunState {
  /// Everything must outlive it.
  RunState(std::span<const InputFile> inputs, const AnalysisRunOptions& run_options, AnalysisConsumer& each_finding_to);
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Takes the streams that have ended. What there was to say of them was handed over.
  void keep_ended();
  /// Everything that was read was followed.
  [[nodiscard]] AnalysisResult finish();

  /// What one thread writes for each frame must not be in a cache line that another one uses meanwhile.
  static constexpr std::size_t kApart = 128;

  const AnalysisRunOptions& options;
  CountingConsumer consumer;
  alignas(kApart) AnalysisResult result;
  CaptureIntake intake;
  alignas(kApart) analysis::TrackerShards shards;
  HandOver hand_over;
  alignas(kApart) PauseWatch pause;
  KeptStreams kept;  ///< that have ended, in runs before too

 private:
  void forget(std::uint32_t stream);
  void carry(CarriedState& state);

  std::vector<analysis::StreamSummary> ended_;  ///< empty between two calls
};

}  // namespace roce::analyze
