// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/transport/verb_error.h"

namespace roce::transport {

/// How a traffic class is selected for transmission (IEEE 802.1Q, 8.6.8).
enum class TransmissionSelection : std::uint8_t {
  strict,  ///< before all classes with a lower number that are strict, and before those with a share
  ets,     ///< has a share, in bytes of the wire, of what the strict classes leave
};

/// How a device divides its link among priorities 0 … 7. By default they take turns, packet by packet, in one class.
struct TrafficClasses {
  std::array<std::uint8_t, 8> class_of{};            ///< by priority: its traffic class, 0 … 7
  std::array<TransmissionSelection, 8> selection{};  ///< by traffic class
  /// By traffic class: its share in percent; 0 for strict ones. Those of the classes with `ets` add up to 100, if there
  /// are any. A class with `ets` and 0 sends when no other class has anything to send. What a class does not use goes
  /// to the others by their shares.
  std::array<std::uint8_t, 8> percent{};

  friend bool operator==(const TrafficClasses&, const TrafficClasses&) = default;
};

/// Error: `invalid_argument` naming the member of `classes` that is wrong.
[[nodiscard]] VerbResult<void> check(const TrafficClasses& classes);

}  // namespace roce::transport
