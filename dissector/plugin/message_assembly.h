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

/// Puts the payload of messages of several packets together, on the first pass over a capture, and keeps what became
/// whole for the passes that follow. Packets may come in any order and more than once: of each PSN the first one
/// counts.
class MessageAssembly {
 public:
  /// Bytes of a channel that wait for the rest of their message; what waits longest goes first, and so no message of
  /// more is put together. What is longer goes by WRITE and READ in the upper protocols that there are, and a capture
  /// of a benchmark would have to be kept in memory.
  static constexpr std::size_t kLargest = std::size_t{256} * 1024;

  /// The requests of one direction of a stream.
  struct Channel {
    std::uint32_t stream = 0;
    std::uint8_t direction = 0;
    friend auto operator<=>(const Channel&, const Channel&) = default;
  };
  /// Where in the capture a packet is.
  struct Place {
    std::uint64_t frame = 0;
    std::uint32_t offset = 0;  ///< where in its frame the packet begins
    friend bool operator==(const Place&, const Place&) = default;
  };
  /// What one packet carries of a message.
  struct Part {
    std::uint64_t frame = 0;
    std::uint32_t offset = 0;  ///< in the message
    std::uint32_t size = 0;    ///< bytes
  };
  struct Message {
    std::vector<std::byte> bytes;  ///< empty when nobody wanted it
    std::vector<Part> parts;       ///< in the order of the message
    Place completed_by{};          ///< the packet that made it whole
    Opcode opcode{};               ///< of the one packet that could have carried all of it
  };
  /// A packet of a message of several.
  struct Packet {
    Channel channel{};
    std::int64_t psn = 0;  ///< relative, across wraps
    Place place{};
    Opcode opcode{};
    std::span<const std::byte> payload;
  };

  /// Takes a packet of the first pass, frame by frame. Returns the message if that made it whole, and null otherwise;
  /// valid until `clear()`. Without memory for it the message stays in pieces.
  const Message* add(const Packet& packet) noexcept;
  /// The whole message that a PSN belongs to, or null.
  [[nodiscard]] const Message* find(Channel channel, std::int64_t psn) const noexcept;
  /// On the first pass: nobody wanted the message that became whole last: its bytes are forgotten when a packet of a
  /// later frame is taken, since what is shown of this frame may still point at them.
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

  /// What a piece counts for in `waiting_bytes`. Empty ones count too, so that there are never many to look through.
  static std::size_t cost(const Piece& piece);
  Message* join(State& state, Pieces::iterator first, Pieces::iterator last, const Place& completed_by);
  void forget_unwanted(std::uint64_t frame) noexcept;
  [[nodiscard]] static const Whole* find(const State& state, std::int64_t psn) noexcept;

  std::map<Channel, State> channels_;
  Message* last_ = nullptr;
  Message* unwanted_ = nullptr;
};

}  // namespace roce::plugin
