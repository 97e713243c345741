// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roce/analysis/stream_summary.h"
#include "roce/wire/feth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// A work request of one end of a captured connection to the other, with the data that were sent or came back.
struct CapturedOperation {
  std::uint8_t side = 0;  ///< side that made the request: 0 is the end that sent the first request of the connection
  Operation operation{};  ///< send, write, read_request, compare_swap, fetch_add, atomic_write or flush
  bool solicited = false;
  std::optional<std::uint32_t> immediate;
  std::optional<RKey> invalidate;
  std::uint64_t remote_address = 0;  ///< as captured; unused for SEND
  RKey r_key{};                      ///< as captured; unused for SEND
  std::uint32_t length = 0;          ///< bytes sent, asked for or flushed
  std::uint64_t compare_add = 0;     ///< compare and swap: value compared with; fetch and add: value added
  std::uint64_t swap = 0;            ///< compare and swap: new value
  Feth flush{};
  /// SEND, WRITE, ATOMIC WRITE: data sent. READ: data that came back. Atomics: value before, in memory's byte order.
  std::vector<std::byte> data;

  std::uint64_t frame = 0;  ///< number of the frame with its first packet
  Time start{};             ///< time of the first packet
  Time arrival{};           ///< time of the last request packet
  Time finish = kNever;     ///< time of the packet that completed it; kNever if none did
  analysis::MessageEnd end{};

  // When its program posted it, as far as the capture shows: after `after_completed` of its own requests had completed
  // and `after_arrived` messages of the other end had arrived, and then `think` later.
  std::size_t after_completed = 0;
  std::size_t after_arrived = 0;
  Duration think{};

  /// True if it takes a receive of the other end, which learns of the request in this way.
  [[nodiscard]] bool is_message() const { return operation == Operation::send || immediate.has_value(); }
};

/// Returns why no queue pair can have done this, so that none can do it again: `has 2000 bytes of payload, its RETH
/// says 1000`; empty if one can. All of an operation, its data included, comes from an untrusted sender.
[[nodiscard]] std::string contradiction_in(const CapturedOperation& operation);
/// Returns the name of an operation in the control protocol and in JSON, such as `read`.
[[nodiscard]] std::string_view control_name(Operation operation);

/// One RC connection of a capture, in a form that can be played again.
struct Conversation {
  std::uint32_t stream = 0;    ///< its number in roce-analyze
  std::array<Gid, 2> ends{};   ///< [0] sent the first request
  std::array<Qpn, 2> qpns{};   ///< queue pairs of `ends`
  std::uint16_t path_mtu = 0;  ///< bytes; 0 unknown
  Time start{};                ///< time of its first request
  std::uint64_t naks = 0;      ///< sequence errors and RNR, of both sides
  std::uint64_t retransmissions = 0;
  std::vector<CapturedOperation> operations;  ///< in the order of their first packets
  /// Reasons why it cannot be played again as it was; empty if it can.
  std::vector<std::string> obstacles;
};

/// Default bound in bytes on the memory that all connections of a capture take together.
inline constexpr std::uint64_t kUsualMemory = std::uint64_t{1} << 30;

/// Finds the RC connections of a capture, with everything that was sent on them: all of it is kept in memory.
/// Takes packets in the order of the capture; no I/O.
class ConversationReader {
 public:
  /// Keeps packets, and what is made of them, until they take `memory` bytes. A connection that goes on after that gets
  /// an obstacle, and one that begins after that is only counted.
  explicit ConversationReader(std::uint64_t memory = kUsualMemory);
  ~ConversationReader();
  ConversationReader(const ConversationReader&) = delete;
  ConversationReader& operator=(const ConversationReader&) = delete;

  /// Takes the next packet. `time` is by the capture's clock. Keeps no reference to `packet`.
  void observe(const Packet& packet, const IcrcVerdict& icrc, Time time, analysis::PacketId id);
  /// Ends the capture and returns the connections in the order of their first packets.
  [[nodiscard]] std::vector<Conversation> finish();
  /// After `finish`: returns how many RC connections it left out because the memory was used up before they began.
  [[nodiscard]] std::uint64_t left_out() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace roce::replay
