// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/pause.h"

namespace roce::analyze {

/// The part of a run that handles PFC and PAUSE: they concern packets of all hosts, so they are followed beside the
/// trackers, in the order of the capture.
class PauseWatch {
 public:
  explicit PauseWatch(const analysis::PauseOptions& options) : tracker_(options) {}

  /// Processes the next packet. Returns the pause that it breaks, if any.
  std::optional<analysis::PauseBreach> observe(const analysis::Observation& packet) { return tracker_.observe(packet); }
  /// Returns the verdict on a packet of `stream`, and counts it for that stream.
  [[nodiscard]] analysis::Verdict judge(const analysis::Observation& packet, const analysis::PauseBreach& breach,
                                        std::uint32_t stream);
  void go_on_from(const CarriedState& state);
  void carry_into(CarriedState& state) const;
  /// Drops the number of breaches of a stream that will not be listed,
  /// so that nothing will ask for it any more.
  void forget(std::uint32_t stream) { breaches_.erase(stream); }
  void finish(AnalysisResult& result) const;  ///< adds the findings to `result`, which already has its streams

 private:
  analysis::PauseTracker tracker_;
  std::map<std::uint32_t, std::uint64_t> breaches_;  ///< by stream
};

}  // namespace roce::analyze
