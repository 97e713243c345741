// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// The ended streams of a run, up to a maximum; beyond it the worst are kept (`is_worse`), and among equals the
/// earliest. The selection does not depend on the order in which the streams are added.
class KeptStreams {
 public:
  /// `most`: the number of streams to keep. `forget` is called for each stream that is not kept.
  KeptStreams(std::size_t most, std::function<void(const analysis::StreamSummary&)> forget);

  /// Moves the streams out of `ended`, which is empty afterwards.
  void add(std::vector<analysis::StreamSummary>& ended);
  /// Returns the kept streams, sorted by number; none are left in the object.
  [[nodiscard]] std::vector<analysis::StreamSummary> take();
  /// Returns the number of streams that were not kept.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void prune();

  std::size_t most_;
  std::function<void(const analysis::StreamSummary&)> forget_;
  std::vector<analysis::StreamSummary> streams_;
  std::uint64_t left_out_ = 0;
};

}  // namespace roce::analyze
