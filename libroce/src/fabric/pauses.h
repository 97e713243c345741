// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fabric/egress.h"
#include "fabric/event_queue.h"
#include "roce/wire/packet.h"

// PFC (IEEE 802.1Q, clause 36) at one end of a link, in the time of a fabric. `rate_bps` is the speed of the link,
// which defines a pause quantum: 512 bit times.
namespace roce::fabric::detail {

/// The ends of the pauses that the other end has asked for.
class Pauses {
 public:
  /// Takes what a PFC frame asks for. Frames of other kinds change nothing.
  void receive(const Packet& packet, std::uint64_t rate_bps, Picoseconds now);
  /// Returns a bit mask: bit p is set if priority p is paused.
  [[nodiscard]] std::uint8_t at(Picoseconds now) const;
  /// Returns the end of the next pause that ends after `now`; -1 if there is none.
  [[nodiscard]] Picoseconds next_end(Picoseconds now) const;

 private:
  std::array<Picoseconds, kPriorities> until_{};
};

/// The pauses that are asked of the other end.
class PauseRequests {
 public:
  static constexpr std::size_t kFrame = 60;  ///< bytes of a frame

  /// Sets the priorities to hold. True if a frame is to be sent: something has changed, or half of a pause is over.
  bool update(std::uint8_t held, std::uint64_t rate_bps, Picoseconds now);
  /// Returns the priorities that are held: bit p is priority p.
  [[nodiscard]] std::uint8_t held() const { return held_; }
  /// Returns the time of the next renewal; -1 while nothing is held.
  [[nodiscard]] Picoseconds renewal() const { return renewal_; }
  /// Writes the frame, which has the state of all priorities that were ever held. `own`: address of the port.
  void write(std::span<std::byte, kFrame> frame, const MacAddress& own) const;

 private:
  std::uint8_t held_ = 0;
  std::uint8_t ever_held_ = 0;
  Picoseconds renewal_ = -1;
};

}  // namespace roce::fabric::detail
