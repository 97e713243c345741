// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/run/analysis_run.h"

namespace roce::analyze {

/// Collects the verdicts on frames, to be written next to them. Memory grows with the number of verdicts kept.
class PacketRemarks {
 public:
  explicit PacketRemarks(analysis::Severity least) : least_(least) {}

  void add(std::uint64_t number, const analysis::Verdict& verdict);

  /// Returns one line for each verdict on a frame, whose number is the overall one; empty if there are none.
  [[nodiscard]] std::string text(std::uint64_t frame, const std::vector<CaptureFile>& files) const;

 private:
  struct Remark {
    std::uint64_t number = 0;
    analysis::Verdict verdict;
  };

  analysis::Severity least_;
  std::unordered_map<std::uint64_t, std::vector<Remark>> frames_;
};

}  // namespace roce::analyze
