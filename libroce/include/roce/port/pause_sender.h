// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// The destination of PAUSE and PFC frames: the other end of the wire (IEEE 802.3, annex 31B).
inline constexpr MacAddress kOtherEnd{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

/// Pauses priorities of the other end of the wire with PFC (IEEE 802.1Q, clause 36) for as long as they should be held:
/// requests a pause, renews it before it ends, and resumes. Frames and times only: no I/O, no clock.
class PauseSender {
 public:
  /// `mac`: source of the frames. `bits_per_second`: speed of the wire, which defines a pause quantum; 1000 … 10^13.
  PauseSender(const MacAddress& mac, std::uint64_t bits_per_second);

  /// Sets the priorities to hold: bit p of `held` is priority p. Returns true if `frame` is to be sent now.
  bool update(std::uint8_t held, Time now);
  /// Returns the latest time for the next call of `update`; `kNever` while nothing is held.
  [[nodiscard]] Time next_timeout() const { return refresh_at_; }
  /// Returns the frame, from its Ethernet header on; valid until the next `update`.
  [[nodiscard]] Bytes frame() const { return frame_; }

 private:
  MacAddress mac_;
  Duration refresh_;  ///< half of the longest pause
  std::uint8_t held_ = 0;
  std::uint8_t ever_held_ = 0;
  Time refresh_at_ = kNever;
  std::array<std::byte, 60> frame_{};
};

}  // namespace roce::port
