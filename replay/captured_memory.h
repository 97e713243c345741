// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "replay/conversation.h"

namespace roce::replay {

/// What of one memory region of an end the requests of the other touched.
struct CapturedRegion {
  RKey r_key{};                   ///< as captured
  std::uint64_t address = 0;      ///< of its first byte that was touched; as captured
  std::vector<std::byte> before;  ///< what has to be in it when the conversation begins; zeros where nothing tells
  std::vector<std::byte> after;   ///< what is in it at the end
  bool is_invalidated = false;    ///< by a SEND with invalidate
};

/// What the program at an end itself put into its memory meanwhile: the READ or atomic `operation`, an index into
/// `Conversation::operations`, found it.
struct MemoryChange {
  std::size_t operation = 0;
  std::size_t region = 0;
  std::size_t offset = 0;  ///< in the region
  std::vector<std::byte> data;
};

/// The memory of one end of a conversation.
struct CapturedMemory {
  std::vector<CapturedRegion> regions;  ///< in the order of their keys
  std::vector<MemoryChange> changes;    ///< in the order of the operations

  /// The number of the region with a key; that of regions if there is none.
  [[nodiscard]] std::size_t region_of(RKey key) const;
};

/// How many bytes the regions of `memory_of` have together. Errors: as those of `memory_of`.
[[nodiscard]] tl::expected<std::uint64_t, std::string> memory_length(const Conversation& conversation,
                                                                     std::uint8_t side, std::uint64_t most);
/// What the requests of the other end tell of the memory of `side`. Errors: its regions are more than `most` bytes
/// together; an operation contradicts itself (`contradiction_in`).
[[nodiscard]] tl::expected<CapturedMemory, std::string> memory_of(const Conversation& conversation, std::uint8_t side,
                                                                  std::uint64_t most = kUsualMemory);

}  // namespace roce::replay
