// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "replay/converse/conversation.h"

namespace roce::replay {

/// The part of one memory region of an end that the requests of the other end touched.
struct CapturedRegion {
  RKey r_key{};                   ///< as captured
  std::uint64_t address = 0;      ///< captured address of the first byte touched, rounded down to a multiple of 8
  std::vector<std::byte> before;  ///< contents when the conversation begins; zeros where the capture does not show them
  std::vector<std::byte> after;   ///< contents at the end
  bool is_invalidated = false;    ///< a SEND with invalidate invalidated its key
};

/// Data that the program at an end itself put into its memory during the conversation, as found by the READ or atomic
/// `operation`, an index into `Conversation::operations`.
struct MemoryChange {
  std::size_t operation = 0;
  std::size_t region = 0;
  std::size_t offset = 0;  ///< in the region, bytes
  std::vector<std::byte> data;
};

/// The memory of one end of a conversation.
struct CapturedMemory {
  std::vector<CapturedRegion> regions;  ///< in the order of their keys
  std::vector<MemoryChange> changes;    ///< in the order of the operations

  /// Returns the index of the region with a key, or the number of regions if there is no such region.
  [[nodiscard]] std::size_t region_of(RKey key) const;
};

/// Returns how many bytes the regions of `memory_of` have together. Errors: those of `memory_of`.
[[nodiscard]] tl::expected<std::uint64_t, std::string> memory_length(const Conversation& conversation,
                                                                     std::uint8_t side, std::uint64_t most);
/// Returns what the requests of the other end reveal of the memory of `side`. Errors: its regions are more than `most`
/// bytes together; an operation contradicts itself (`contradiction_in`).
[[nodiscard]] tl::expected<CapturedMemory, std::string> memory_of(const Conversation& conversation, std::uint8_t side,
                                                                  std::uint64_t most = kUsualMemory);

}  // namespace roce::replay
