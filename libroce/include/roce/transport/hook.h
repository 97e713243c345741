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

/// What becomes of a packet that is about to be sent.
struct TxVerdict {
  enum class Fate : std::uint8_t { send, drop, duplicate, delay, behind_next };

  Fate fate = Fate::send;
  Duration delay{0};         ///< `delay`: sent so much later
  std::uint32_t behind = 0;  ///< `behind_next`: sent after so many more packets of the QP, or 10 ms
  bool seal_again = false;   ///< the packet was changed: compute its ICRC anew. Without it a change leaves a wrong ICRC
};

/// Makes one QP misbehave on purpose. A QP with a hook is never batched; one without pays nothing.
class MisbehaviourHook {
 public:
  MisbehaviourHook() = default;
  MisbehaviourHook(const MisbehaviourHook&) = delete;
  MisbehaviourHook& operator=(const MisbehaviourHook&) = delete;
  virtual ~MisbehaviourHook() = default;

  /// Sees each packet of the QP before it goes, from its BTH through its ICRC, and may change it in place.
  virtual TxVerdict on_transmit(std::span<std::byte> packet, Time now);
  /// Sees each request that passed the checks that are silent, before it is executed: a syndrome answers it with that
  /// NAK instead, without executing it.
  virtual std::optional<AethSyndrome> on_request(const Packet& packet, Time now);
};

}  // namespace roce::transport
