// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/analysis_run.h"

namespace roce::analyze {

/// What is said about frames, to be written beside them. Memory grows with the number of verdicts that are kept.
class PacketRemarks {
 public:
  explicit PacketRemarks(analysis::Severity least) : least_(least) {}

  void add(std::uint64_t number, const analysis::Verdict& verdict);

  /// One line for each verdict about a frame, which is numbered overall; empty when there is none.
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
