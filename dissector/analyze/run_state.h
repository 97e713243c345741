// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <utility>

#include "analyze/capture_intake.h"
#include "analyze/hand_over.h"
#include "analyze/pause_watch.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analyze {

/// What every way to run an analysis has, and how it ends.
struct RunState {
  /// Everything must outlive it.
  RunState(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisConsumer& each_finding_to)
      : consumer(each_finding_to),
        intake(inputs, options, result),
        shards(options.tracker),
        hand_over(shards, options.tracker, consumer),
        pause(options.pause) {}
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// Everything that was read was followed.
  [[nodiscard]] AnalysisResult finish() {
    intake.stop();
    hand_over();
    intake.finish();
    shards.finish();
    hand_over();
    shards.drain_closed(result.streams);
    result.evictions = shards.evictions();
    pause.finish(result);
    return std::move(result);
  }

  AnalysisConsumer& consumer;
  AnalysisResult result;
  CaptureIntake intake;
  analysis::TrackerShards shards;
  HandOver hand_over;
  PauseWatch pause;
};

}  // namespace roce::analyze
