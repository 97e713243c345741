// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/converse/captured_memory.h"
#include "replay/converse/conversation.h"

namespace roce::replay {

/// The live place of something that a capture has elsewhere.
struct LivePlace {
  std::uint64_t address = 0;
  RKey r_key{};
};

/// A request that ended.
struct EndedRequest {
  std::size_t operation = 0;    ///< index into `Conversation::operations`
  std::string error;            ///< why it failed; empty: it succeeded
  std::vector<std::byte> data;  ///< READ and atomic: what came back
};

/// A message that took a receive.
struct ArrivedMessage {
  std::uint32_t length = 0;
  std::optional<std::uint32_t> immediate;
  bool is_write = false;        ///< WRITE with immediate: the data are in memory
  std::vector<std::byte> data;  ///< SEND: its data
};

/// An end of a conversation that does what we tell it.
class PlayedEnd {
 public:
  PlayedEnd() = default;
  virtual ~PlayedEnd() = default;
  PlayedEnd(const PlayedEnd&) = delete;
  PlayedEnd& operator=(const PlayedEnd&) = delete;

  /// Posts operation `index`, which has to be one of this end; `place` is the live place of the memory that
  /// it is about, or has the key that it invalidates.
  [[nodiscard]] virtual Outcome<void> post(std::size_t index, const LivePlace& place) = 0;
  /// Adds what has happened to `ended` and `arrived`.
  [[nodiscard]] virtual Outcome<void> poll() = 0;
  /// Returns how many requests of the other end were carried out here, modulo 2^24; none if nothing tells us.
  [[nodiscard]] virtual std::optional<std::uint32_t> carried_out() const = 0;
  /// Returns where the region with this index in its `CapturedMemory` begins.
  [[nodiscard]] virtual LivePlace place(std::size_t region) const = 0;
  [[nodiscard]] virtual Outcome<void> write_memory(std::size_t region, std::size_t offset,
                                                   const std::vector<std::byte>& data) = 0;
  [[nodiscard]] virtual Outcome<std::vector<std::byte>> read_memory(std::size_t region) = 0;

  std::deque<EndedRequest> ended;
  std::deque<ArrivedMessage> arrived;
};

/// The sizes of what an end needs for its side of a conversation.
struct EndPlan {
  std::vector<std::size_t> offsets;  ///< place of each operation's data in one buffer; only for its own operations
  std::size_t data_bytes = 0;        ///< size of that buffer
  std::size_t receive_bytes = 0;     ///< size of the largest message that comes
  std::uint32_t receives = 0;        ///< number posted at a time
};

/// The most requests that an end keeps under way; a capture that has more is slowed down.
inline constexpr std::uint32_t kMostRequests = 1024;

[[nodiscard]] EndPlan plan_end(const Conversation& conversation, std::uint8_t side);

/// Returns how many bytes playing a conversation takes besides its captured data: the memory of both ends before, after
/// and during it, and their buffers. Error: it is more than `most`, or the conversation contradicts itself.
[[nodiscard]] tl::expected<std::uint64_t, std::string> memory_needed(const Conversation& conversation,
                                                                     std::uint64_t most);

}  // namespace roce::replay
