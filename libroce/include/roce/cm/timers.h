// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::cm {

/// The largest of the 5-bit time codes: 4.096 us * 2^code (IBTA vol. 1, 12.7).
inline constexpr std::uint8_t kLargestTimeCode = 31;

/// Returns the time that a code stands for, as Linux takes it:
/// 2^(code - 8) ms, at least 1 ms (CM-TIME-1). A code is at most 31.
[[nodiscard]] constexpr Duration time_of(std::uint8_t code) {
  constexpr std::uint8_t kMillisecond = 8;
  const unsigned shift = code > kMillisecond ? std::min(code, kLargestTimeCode) - kMillisecond : 0U;
  return std::chrono::milliseconds{std::int64_t{1} << shift};
}

/// Returns the code of the local ACK timeout of a path: twice the packet lifetime, and room for the delay
/// of the peer's ACKs. Both arguments are codes (CM-TIME-2, the parts of the ACK timeout).
[[nodiscard]] constexpr std::uint8_t ack_timeout_of(std::uint8_t packet_lifetime, std::uint8_t ack_delay) {
  unsigned code = packet_lifetime + 1U;
  if (code >= ack_delay) {
    code += ack_delay >= code - 1 ? 1U : 0U;
  } else {
    code = ack_delay + (code >= ack_delay - 1U ? 1U : 0U);
  }
  return static_cast<std::uint8_t>(std::min<unsigned>(code, kLargestTimeCode));
}

}  // namespace roce::cm
