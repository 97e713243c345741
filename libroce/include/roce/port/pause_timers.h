// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::port {

/// Which priorities the other end of the wire has paused, and until when: PAUSE (IEEE 802.3, annex 31B) holds all of
/// them, PFC (IEEE 802.1Q, clause 36) each by itself.
class PauseTimers {
 public:
  /// The speed of the wire, in which pause quanta are counted; 1000 … 10^13.
  explicit PauseTimers(std::uint64_t bits_per_second) : bits_per_second_(bits_per_second) {}

  /// Takes a frame. False: it is neither PAUSE nor PFC.
  bool receive(const Packet& packet, Time now);
  /// Bit p: priority p is paused at `now`.
  [[nodiscard]] std::uint8_t paused(Time now) const;
  /// When the next pause after `now` ends; `kNever` without any.
  [[nodiscard]] Time next_end(Time now) const;

 private:
  void pause(unsigned priority, std::uint16_t quanta, Time now);

  std::uint64_t bits_per_second_;
  std::array<Time, 8> until_{};
};

}  // namespace roce::port
