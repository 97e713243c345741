// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/histogram.h"

namespace roce::analyze {

/// Sums of all streams from one host to another.
struct HostPair {
  Gid from{};
  Gid to{};
  std::uint64_t streams = 0;
  std::uint64_t bytes = 0;      ///< frames
  std::uint64_t goodput = 0;    ///< payload of the acknowledged messages that `from` asked for
  std::uint64_t lost = 0;       ///< of the streams between them, in both directions
  std::uint64_t resent = 0;     ///< the same
  analysis::Histogram latency;  ///< of the messages of `from`
};

/// Returns the pairs of hosts that sent most to each other, at most `most`, the largest first.
[[nodiscard]] std::vector<HostPair> host_pairs(const AnalysisResult& result, std::size_t most);

}  // namespace roce::analyze
