// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/pause_watch.h"

namespace roce::analyze {

analysis::Verdict PauseWatch::judge(const analysis::Observation& packet, const analysis::PauseBreach& breach,
                                    std::uint32_t stream) {
  if (stream != analysis::kNoStream) ++breaches_[stream];
  analysis::Verdict verdict;
  verdict.kind = analysis::VerdictKind::sent_while_paused;
  verdict.stream = stream;
  verdict.packet = packet.id;
  verdict.other = breach.xoff;
  verdict.time = packet.time;
  verdict.first_psn = packet.psn;
  verdict.elapsed = breach.elapsed;
  return verdict;
}

void PauseWatch::finish(AnalysisResult& result) const {
  result.pauses = tracker_.summaries();
  result.uncounted_pause_frames = tracker_.uncounted_frames();
  constexpr auto kKind = static_cast<std::size_t>(analysis::VerdictKind::sent_while_paused);
  for (analysis::StreamSummary& stream : result.streams) {
    const auto found = breaches_.find(stream.stream);
    if (found != breaches_.end()) stream.verdicts[kKind] += found->second;
  }
}

}  // namespace roce::analyze
