// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// Everything that can be learnt of a capture.
struct Findings {
  std::vector<Verdict> verdicts;
  std::vector<Message> messages;
  std::vector<Answer> answers;
  std::vector<StreamSummary> streams;
  Evictions evictions;

  /// Brings everything into an order that does not depend on when it was found.
  void sort();
};

/// The real captures, each between several pairs of hosts, packets of all in turn.
[[nodiscard]] std::vector<Observation> many_hosts();

/// The same was found, in whatever order.
void expect_equal(Findings a, Findings b);

}  // namespace roce::analysis
