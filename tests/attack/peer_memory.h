// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "control_line.h"
#include "roce/wire/types.h"

namespace roce::attack {

/// A memory of the peer, filled with a pattern.
struct Region {
  std::uint32_t memory = 0;  ///< number of the memory in the control protocol
  std::uint64_t address = 0;
  RKey r_key{};
  std::uint64_t length = 0;
  std::uint64_t seed = 0;
};

/// The memories that an attack makes on its peer, and their expected contents. Writing is granted in one of them only;
/// the others lie before and behind it, have fewer rights, belong to another client, or to a client that has left.
class PeerMemory {
 public:
  static constexpr std::uint64_t kArea = 2048;  ///< bytes of the granted region for each queue pair
  static constexpr std::uint64_t kSlot = 8192;  ///< bytes of the local memory around each posted buffer
  static constexpr std::uint64_t kBuffer = 2048;
  static constexpr std::uint64_t kBufferOffset = 3072;  ///< offset in the slot; the bytes around it may not change

  PeerMemory(ControlLine& line, ControlLine& other, ControlLine gone, std::uint32_t queue_pairs, std::uint64_t seed);

  Region below;  ///< the memory below the granted one; it and `above` have no remote rights
  Region granted;
  Region above;
  Region read_only;
  Region write_only;
  Region atomic_only;
  Region no_flush;
  Region others;  ///< memory of another client, with all rights
  Region gone;    ///< memory of a client that has left
  Region local;   ///< memory of the slots, with no remote rights

  [[nodiscard]] std::span<std::byte> shadow(std::uint64_t offset, std::size_t length) {
    return std::span{shadow_}.subspan(offset, length);
  }
  /// Compares all memories. Returns how many outside the granted region have a wrong byte, and how many bytes of that
  /// region are wrong; their new values are expected from then on. At most one sentence per region goes to `sentences`.
  struct Wrong {
    std::uint64_t outside = 0;
    std::uint64_t granted = 0;
  };
  [[nodiscard]] Wrong check(std::vector<std::string>& sentences);
  [[nodiscard]] std::uint64_t compared_bytes() const { return compared_; }

 private:
  [[nodiscard]] Region make(ControlLine& line, std::uint64_t length, std::string_view access);
  void check_pattern(ControlLine& line, const Region& region, std::string_view name, Wrong& wrong,
                     std::vector<std::string>& sentences);
  void check_slots(Wrong& wrong, std::vector<std::string>& sentences);

  ControlLine& line_;
  ControlLine& other_;
  std::uint64_t seed_;
  std::uint32_t queue_pairs_;
  std::uint64_t compared_ = 0;
  std::vector<std::byte> shadow_;
};

}  // namespace roce::attack
