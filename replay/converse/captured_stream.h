// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/feth.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/reth.h"

namespace roce::replay {

/// Bytes that an atomic or an ATOMIC WRITE is about.
inline constexpr std::size_t kAtomicBytes = 8;

/// The contents of one packet, from the first transmission that was intact.
struct CapturedPiece {
  std::vector<std::byte> payload;
  std::uint32_t payload_length = 0;  ///< bytes on the wire
  Time time{};
};

/// A request packet.
struct CapturedRequestPiece : CapturedPiece {
  Bth bth{};
  Operation operation{};
  bool continues = false;  ///< true if its message began in an earlier packet
  std::optional<Reth> reth;
  std::optional<AtomicEth> atomic;
  std::optional<ImmDt> immediate;
  std::optional<Ieth> invalidate;
  std::optional<Feth> flush;
};

/// The requests of one side of a stream with their answers, by the requester's PSNs, which count on across wraps.
struct CapturedRequester {
  std::map<std::int64_t, CapturedRequestPiece> requests;
  std::map<std::int64_t, CapturedPiece> answers;
  std::map<analysis::PacketId, std::int64_t> psns;  ///< PSNs of request packets, one for each transmission
};

/// The kept packets and messages of a stream.
struct CapturedStream {
  std::array<CapturedRequester, 2> sides;  ///< by direction of the stream
  std::vector<analysis::Message> messages;
  std::uint64_t not_kept_from = 0;  ///< number of the first frame that memory did not suffice for
};

}  // namespace roce::replay
