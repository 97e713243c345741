// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "command_line/outcome.h"

namespace roce::runtime {

/// The highest rate of something. The user of the rate decides which bits count.
struct Rate {
  std::uint64_t bps = 0;  ///< bits a second; 0: no limit
  std::uint64_t pps = 0;  ///< packets a second; 0: no limit
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// Reads what `text::parse_bit_rate` reads (`100G`, `2.5Gbit`, `800 Mbit/s`) or `text::parse_packet_rate` (`100kpps`,
/// `5000pps`): one of the two limits. A failure names these forms.
[[nodiscard]] Outcome<Rate> parse_rate(const std::string& text);

}  // namespace roce::runtime
