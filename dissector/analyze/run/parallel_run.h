// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// Does the work of `run_analysis` with `threads` threads (at least 1), for a consumer that does not want packets.
/// Reading, decoding and following overlap: while one batch of frames is read, the one before it is decoded, in pieces,
/// and the one before that is followed, each shard of the trackers by itself.
[[nodiscard]] AnalysisResult run_parallel(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                                          AnalysisConsumer& consumer, unsigned threads);

}  // namespace roce::analyze
