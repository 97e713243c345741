// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::port {

/// The priorities that the other end of the wire has paused, and the ends of their pauses:
/// PAUSE (IEEE 802.3, annex 31B) holds all of them, PFC (IEEE 802.1Q, clause 36) each by itself.
class PauseTimers {
 public:
  /// `bits_per_second`: speed of the wire, which defines a pause quantum; 1000 … 10^13.
  explicit PauseTimers(std::uint64_t bits_per_second) : bits_per_second_(bits_per_second) {}

  /// Obeys PFC only of the priorities whose bits are set, from the next frame on; all by default. PAUSE holds all of
  /// them.
  void obey(std::uint8_t priorities) { obeyed_ = priorities; }
  /// Processes a frame. Returns false if it is neither PAUSE nor PFC.
  bool receive(const Packet& packet, Time now);
  /// Returns a bit mask: bit p is set if priority p is paused at `now`.
  [[nodiscard]] std::uint8_t paused(Time now) const;
  /// Returns the end of the next pause that ends after `now`; `kNever` if there is none.
  [[nodiscard]] Time next_end(Time now) const;

 private:
  void pause(unsigned priority, std::uint16_t quanta, Time now);

  std::uint64_t bits_per_second_;
  std::array<Time, 8> until_{};
  std::uint8_t obeyed_ = 0xFF;
};

}  // namespace roce::port
