// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// The findings of one rank about its share of a run. Streams have the rank's own numbers.
struct GatheredShare {
  AnalysisResult result;
  std::vector<analysis::Verdict> verdicts;          ///< in the order in which they became known, if they are asked for
  std::vector<analysis::StreamSummary> known_ends;  ///< `GatheredRun::known_ends`, if they are asked for

  /// Returns what `unpack` needs, for a rank of the same program on a machine of the same kind. Of the result: all that
  /// ranks do not share, which is everything but stations, hosts and capture points.
  [[nodiscard]] std::string pack() const;
  /// Throws std::runtime_error if the bytes are not those of `pack`.
  [[nodiscard]] static GatheredShare unpack(std::string_view packed);
};

/// Puts together what all ranks found out, by rank: the result of one process. `lists` is that of the consumer,
/// `most_streams` is `analysis::Limits::streams`. Verdicts are then those of rank 0, in the order of their packets.
/// Throws std::runtime_error, with a sentence, if a frame was not followed exactly once.
[[nodiscard]] GatheredShare put_together(std::vector<GatheredShare> shares, const AnalysisConsumer& consumer,
                                         std::size_t most_streams);

}  // namespace roce::analyze
