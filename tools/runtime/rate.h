// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "command_line/outcome.h"

namespace roce::runtime {

/// How fast something goes at most. Which bits count is up to who is told.
struct Rate {
  std::uint64_t bps = 0;  ///< bits a second; 0: no limit
  std::uint64_t pps = 0;  ///< packets a second; 0: no limit
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// Reads `2.5Gbit`, `800Mbit`, `100kpps` or `5000pps`: one of the two limits, at least 1. Failure: what was expected.
[[nodiscard]] command_line::Outcome<Rate> parse_rate(const std::string& text);

}  // namespace roce::runtime
