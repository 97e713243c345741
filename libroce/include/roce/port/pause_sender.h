// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// Where PAUSE and PFC frames go: to whoever is at the other end of the wire (IEEE 802.3, annex 31B).
inline constexpr MacAddress kOtherEnd{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

/// Holds priorities of the other end of the wire by PFC (IEEE 802.1Q, clause 36) for as long as they should be held:
/// says so, says so again before the pause ends, and resumes. Frames and times only: no I/O, no clock.
class PauseSender {
 public:
  /// `mac`: the sender of the frames. The speed of the wire, in which pause quanta are counted; 1000 … 10^13.
  PauseSender(const MacAddress& mac, std::uint64_t bits_per_second);

  /// Bit p of `held`: priority p should be held. Returns whether a frame is to be sent now: `frame`.
  bool update(std::uint8_t held, Time now);
  /// When `update` has to be called at the latest; `kNever` while nothing is held.
  [[nodiscard]] Time next_timeout() const { return refresh_at_; }
  /// The frame, from its Ethernet header on; valid until the next `update`.
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
