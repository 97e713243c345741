// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "roce/wire/time.h"

namespace roce::transport {

/// Settings of an RC QP that loses less time to a loss than the specification asks for. Each member works alone, none
/// is on at first, and none changes a packet: any peer understands what is sent.
struct LossRecovery {
  static constexpr std::uint32_t kMostHeld = 4096;                   ///< limit of `held_requests` and `held_responses`
  static constexpr std::uint32_t kMostPercent = 100;                 ///< limit of `restart_percent`
  static constexpr Duration kLongestWait = std::chrono::seconds{1};  ///< limit of `nak_again_after` and `nak_delay`

  // Responder.
  /// Requests behind a gap that are kept and executed in order once the gap is filled, at most that many PSNs behind
  /// it; 0: they are dropped. Room for so many packets is reserved from RTR on.
  std::uint32_t held_requests = 0;
  /// The NAK of a gap is sent again while the gap is there: after this time, then after twice that, and so on, at most
  /// seven times; 0: never. A requester takes a repeated NAK for a new one if its packets have been under way for a
  /// round trip. It should be at least one and a half round trips.
  Duration nak_again_after{0};
  /// A gap is NAKed when more than this many packets came behind it, or …
  std::uint32_t nak_delay_packets = 0;
  /// … when it has been there for this time; 0 of both: at once.
  Duration nak_delay{0};

  // Requester.
  /// The ACK timer runs from the first packet that asks for an ACK; a packet that follows does not restart it.
  bool timer_from_first = false;
  /// The ACK timer is as long as the measured round trip and its variation ask for (RFC 6298), at least two round trips
  /// and 100 us, and doubles each time it expires until a round trip is measured. The timeout of the QP is its upper
  /// limit, and retries are counted at that pace only.
  bool adaptive_timeout = false;
  /// With nothing more to send, and no answer for one and a half round trips, the last packet is sent once more.
  bool tail_probe = false;
  /// After a NAK only the packet that it names is sent again, unless another one was lost in the same round trip. A
  /// peer whose next NAK names the next PSN is taken to drop what comes behind a gap: the QP always goes back from then
  /// on.
  bool selective_repeat = false;
  /// After a timeout as many percent of the window may be in flight, and a packet more for each that is acknowledged;
  /// 0: the whole window.
  std::uint32_t restart_percent = 0;
  /// Responses to READs and atomics behind a gap that are kept, at most that many PSNs behind it: only the request that
  /// misses one goes again, a READ from there on, and not those behind it; so what a READ returns may be older than
  /// what a READ before it returns. 0: all go again. Room for so many packets is reserved from RTS on.
  std::uint32_t held_responses = 0;
  /// Payload in flight, bytes, at most; 0: no limit but Profile::window. One packet is always allowed.
  std::uint32_t window_bytes = 0;

  /// True if a responder has to remember something about a gap.
  [[nodiscard]] constexpr bool is_of_responder() const {
    return held_requests != 0 || nak_again_after.count() != 0 || nak_delay_packets != 0 || nak_delay.count() != 0;
  }
  /// True if a requester has to remember something about losses.
  [[nodiscard]] constexpr bool is_of_requester() const {
    return timer_from_first || adaptive_timeout || tail_probe || selective_repeat || restart_percent != 0 ||
           window_bytes != 0 || held_responses != 0 || nak_again_after.count() != 0;
  }
};

}  // namespace roce::transport
