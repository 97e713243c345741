// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "roce/wire/aeth.h"
#include "roce/wire/bth.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::transport {

/// The decision on a packet that is about to be sent.
struct TxVerdict {
  enum class Fate : std::uint8_t { send, drop, duplicate, delay, behind_next };

  Fate fate = Fate::send;
  Duration delay{0};         ///< `delay`: how much later the packet is sent
  std::uint32_t behind = 0;  ///< `behind_next`: sent after this many more packets of the QP, or after 10 ms
  bool seal_again = false;   ///< the packet was changed: compute its ICRC again. If false, a change leaves a wrong ICRC
};

/// Makes one QP misbehave on purpose. A QP with a hook is never batched; a QP without one pays nothing.
class MisbehaviourHook {
 public:
  MisbehaviourHook() = default;
  MisbehaviourHook(const MisbehaviourHook&) = delete;
  MisbehaviourHook& operator=(const MisbehaviourHook&) = delete;
  virtual ~MisbehaviourHook() = default;

  /// Sees each packet of the QP before it is sent, from its BTH through its ICRC, and may change it in place.
  virtual TxVerdict on_transmit(std::span<std::byte> packet, Time now);
  /// Sees each request that passed the silent checks, before it is executed.
  /// A returned syndrome answers the request with that NAK instead, without executing it.
  virtual std::optional<AethSyndrome> on_request(const Packet& packet, Time now);
};

}  // namespace roce::transport
