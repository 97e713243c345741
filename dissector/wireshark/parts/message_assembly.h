// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "roce/wire/opcode.h"

namespace roce::plugin {

/// Joins the payloads of messages of several packets on the first pass over a capture, and keeps the complete messages
/// for the passes that follow. Packets may come in any order and more than once; of packets with the same PSN the first
/// one counts.
class MessageAssembly {
 public:
  /// The limit, in bytes, of a channel's pieces that wait for the rest of their messages; beyond it the lowest PSNs are
  /// dropped, so no longer message is joined. The known upper protocols use WRITE and READ for anything longer, and the
  /// capture of a benchmark would otherwise have to be kept in memory.
  static constexpr std::size_t kLargest = std::size_t{256} * 1024;

  /// The requests of one direction of a stream.
  struct Channel {
    std::uint32_t stream = 0;
    std::uint8_t direction = 0;
    friend auto operator<=>(const Channel&, const Channel&) = default;
  };
  /// The place of a packet in the capture.
  struct Place {
    std::uint64_t frame = 0;
    std::uint32_t offset = 0;  ///< offset of the packet in its frame
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// The part of a message that one packet carries.
  struct Part {
    std::uint64_t frame = 0;
    std::uint32_t offset = 0;  ///< offset in the message
    std::uint32_t size = 0;    ///< in bytes
  };
  struct Message {
    std::vector<std::byte> bytes;  ///< empty if no dissector wanted it
    std::vector<Part> parts;       ///< in the order of the message
    Place completed_by{};          ///< the packet that completed it
    Opcode opcode{};               ///< of a single packet that could have carried all of it
  };
  /// A packet of a message of several packets.
  struct Packet {
    Channel channel{};
    std::int64_t psn = 0;  ///< relative, does not wrap
    Place place{};
    Opcode opcode{};
    std::span<const std::byte> payload;
  };

  /// Takes a packet of the first pass, frame by frame. Returns the message if this packet completed it, else null;
  /// valid until `clear()`. If memory runs out, the message stays in pieces.
  const Message* add(const Packet& packet) noexcept;
  /// Returns the complete message that a PSN belongs to, or null.
  [[nodiscard]] const Message* find(Channel channel, std::int64_t psn) const noexcept;
  /// On the first pass: tells that no dissector wanted the message completed last. Its bytes are dropped when a packet
  /// of a later frame is taken, since what is shown of this frame may still point to them.
  void drop_last() noexcept { unwanted_ = last_; }
  void clear() noexcept;

 private:
  struct Piece {
    Place place{};
    Opcode opcode{};
    std::vector<std::byte> bytes;
  };
  using Pieces = std::map<std::int64_t, Piece>;
  struct Whole {
    std::int64_t last_psn = 0;
    Message message;
  };
  struct State {
    Pieces waiting;
    std::size_t waiting_bytes = 0;
    std::map<std::int64_t, Whole> whole;  ///< by the first PSN
  };

  /// Returns the share of a piece in `waiting_bytes`. Empty ones count too, so that there are never many to search.
  static std::size_t cost(const Piece& piece);
  Message* join(State& state, Pieces::iterator first, Pieces::iterator last, const Place& completed_by);
  void forget_unwanted(std::uint64_t frame) noexcept;
  [[nodiscard]] static const Whole* find(const State& state, std::int64_t psn) noexcept;

  std::map<Channel, State> channels_;
  Message* last_ = nullptr;
  Message* unwanted_ = nullptr;
};

}  // namespace roce::plugin
