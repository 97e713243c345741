// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// Everything that can be learnt from a capture.
struct Findings {
  std::vector<Verdict> verdicts;
  std::vector<Message> messages;
  std::vector<Answer> answers;
  std::vector<StreamSummary> streams;
  Evictions evictions;

  /// Sorts everything into an order that does not depend on when it was found.
  void sort();
};

/// Returns the real captures, each repeated between several pairs of hosts, the packets of all of them in turn.
[[nodiscard]] std::vector<Observation> many_hosts();

/// Expects that both have found the same, in whatever order.
void expect_equal(Findings a, Findings b);

}  // namespace roce::analysis
