// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roce/analysis/stream_summary.h"
#include "roce/wire/feth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// What one end of a captured connection did to the other: a work request with what was sent or came back.
struct CapturedOperation {
  std::uint8_t side = 0;  ///< whose request it is: 0 is the end that sent the first request of the connection
  Operation operation{};  ///< send, write, read_request, compare_swap, fetch_add, atomic_write or flush
  bool solicited = false;
  std::optional<std::uint32_t> immediate;
  std::optional<RKey> invalidate;
  std::uint64_t remote_address = 0;  ///< of all but SEND; as captured
  RKey r_key{};                      ///< the same
  std::uint32_t length = 0;          ///< bytes sent, asked for or flushed
  std::uint64_t compare_add = 0;     ///< compare and swap: compared with; fetch and add: added
  std::uint64_t swap = 0;            ///< compare and swap
  Feth flush{};
  /// SEND, WRITE, ATOMIC WRITE: what was sent. READ: what came back. Atomics: what had been there, as memory has it.
  std::vector<std::byte> data;

  std::uint64_t frame = 0;  ///< its first packet
  Time start{};             ///< of that packet
  Time arrival{};           ///< of its last request packet
  Time finish = kNever;     ///< of what completed it; kNever when nothing did
  analysis::MessageEnd end{};

  // When its program asked for it, as far as that shows: after so many of its own requests had completed, so many
  // messages of the other end had arrived, and then after `think` had passed since the latest of these.
  std::size_t after_completed = 0;
  std::size_t after_arrived = 0;
  Duration think{};

  /// Takes a receive of the other end, which so learns of it.
  [[nodiscard]] bool is_message() const { return operation == Operation::send || immediate.has_value(); }
};

/// Why no queue pair can have done this, so that none can do it again: `has 2000 bytes of payload, its RETH says 1000`;
/// empty if one can. All that an operation says of itself, its data among it, is what somebody sent.
[[nodiscard]] std::string contradiction_in(const CapturedOperation& operation);

/// One RC connection of a capture, as something that can be done again.
struct Conversation {
  std::uint32_t stream = 0;    ///< as roce-analyze numbers it
  std::array<Gid, 2> ends{};   ///< [0] sent the first request
  std::array<Qpn, 2> qpns{};   ///< theirs
  std::uint16_t path_mtu = 0;  ///< bytes; 0 unknown
  Time start{};                ///< its first request
  std::uint64_t naks = 0;      ///< sequence errors and RNR, of both sides
  std::uint64_t retransmissions = 0;
  std::vector<CapturedOperation> operations;  ///< in the order of their first packets
  /// Why it cannot be done again as it was; empty if it can.
  std::vector<std::string> obstacles;
};

/// What the connections of a capture may take of memory by default, all together: bytes.
inline constexpr std::uint64_t kUsualMemory = std::uint64_t{1} << 30;

/// Finds the RC connections of a capture, with all that was said on them: everything is kept in memory. Takes packets
/// in the order of the capture; no I/O.
class ConversationReader {
 public:
  /// Keeps packets until they take `memory` bytes, with what is made of them; a connection that goes on after that has
  /// an obstacle, and one that begins after that is only counted.
  explicit ConversationReader(std::uint64_t memory = kUsualMemory);
  ~ConversationReader();
  ConversationReader(const ConversationReader&) = delete;
  ConversationReader& operator=(const ConversationReader&) = delete;

  /// Takes the next packet. `time` is that of the capture's clock. Nothing of `packet` is referred to later.
  void observe(const Packet& packet, const IcrcVerdict& icrc, Time time, analysis::PacketId id);
  /// The end of the capture: the connections in the order of their first packets.
  [[nodiscard]] std::vector<Conversation> finish();
  /// After `finish`: RC connections that are not among those, because the memory was used up before they began.
  [[nodiscard]] std::uint64_t left_out() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace roce::replay
