// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyze/analysis_run.h"
#include "roce/analysis/pause.h"

namespace roce::analyze {

/// What a run does about PFC and PAUSE: they concern packets of all hosts, so they are followed beside the trackers, in
/// the order of the capture.
class PauseWatch {
 public:
  explicit PauseWatch(const analysis::PauseOptions& options) : tracker_(options) {}

  /// Takes the next packet.
  std::optional<analysis::PauseBreach> observe(const analysis::Observation& packet) { return tracker_.observe(packet); }
  /// The verdict about a packet of `stream`, which counts it.
  [[nodiscard]] analysis::Verdict judge(const analysis::Observation& packet, const analysis::PauseBreach& breach,
                                        std::uint32_t stream);
  void go_on_from(const CarriedState& state);
  void carry_into(CarriedState& state) const;
  /// Adds what was found; `result` has its streams.
  /// Nobody will ask for this stream.
  void forget(std::uint32_t stream) { breaches_.erase(stream); }
  void finish(AnalysisResult& result) const;

 private:
  analysis::PauseTracker tracker_;
  std::map<std::uint32_t, std::uint64_t> breaches_;  ///< by stream
};

}  // namespace roce::analyze
