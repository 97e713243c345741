// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/pause_watch.h"

#include "analyze/run/carried_state.h"

namespace roce::analyze {

analysis::Verdict PauseWatch::judge(const analysis::Observation& packet, const analysis::PauseBreach& breach,
                                    std::uint32_t stream) {
  if (stream != analysis::kNoStream) ++breaches_[stream];
  return breach_verdict(packet, breach, stream);
}

void PauseWatch::go_on_from(const CarriedState& state) {
  // The state was checked when it was loaded.
  static_cast<void>(tracker_.restore(state.pauses));
  breaches_ = state.breaches;
}

void PauseWatch::carry_into(CarriedState& state) const {
  state.pauses = tracker_.save();
  state.breaches = breaches_;
}

void PauseWatch::finish(AnalysisResult& result) const {
  result.pauses = tracker_.summaries();
  result.uncounted_pause_frames = tracker_.uncounted_frames();
  for (analysis::StreamSummary& stream : result.streams) {
    const auto found = breaches_.find(stream.stream);
    if (found == breaches_.end()) continue;
    stream.verdicts.add(analysis::VerdictKind::sent_while_paused, found->second);
    stream.broken.add(analysis::Rule::pause, found->second);
  }
}

}  // namespace roce::analyze
