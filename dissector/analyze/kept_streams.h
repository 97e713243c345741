// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// The streams of a run that have ended, as many as there is room for: of more the worst (`is_worse`), and of those
/// alike the earlier ones. Which are kept does not depend on the order in which they come.
class KeptStreams {
 public:
  /// `forget` is called with each stream that is not kept.
  KeptStreams(std::size_t most, std::function<void(const analysis::StreamSummary&)> forget);

  /// Takes what is in `ended`, which is empty then.
  void add(std::vector<analysis::StreamSummary>& ended);
  /// The streams that are kept, by number. There are none left then.
  [[nodiscard]] std::vector<analysis::StreamSummary> take();
  /// How many were forgotten.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  void prune();

  std::size_t most_;
  std::function<void(const analysis::StreamSummary&)> forget_;
  std::vector<analysis::StreamSummary> streams_;
  std::uint64_t left_out_ = 0;
};

}  // namespace roce::analyze
