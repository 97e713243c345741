// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "roce/wire/packet.h"

namespace roce::transport::detail {

/// Packets of a QP that came behind a gap: requests by their position as the responder counts, responses as the
/// requester does.
class HeldPackets {
 public:
  /// The headers of the longest packet in front of its payload, and its ICRC.
  static constexpr std::uint32_t kMostHeaderBytes = 64;

  /// For positions at most `packets` ahead, and packets of at most `packet_bytes` from the BTH through the ICRC.
  /// Neither allocates later.
  HeldPackets(std::uint32_t packets, std::uint32_t packet_bytes);

  /// Keeps a copy of a packet `ahead` positions in front of the one expected. Nothing is kept of one that is too far
  /// ahead or too long, or is there already. True if it was kept.
  bool keep(std::uint64_t position, std::uint64_t ahead, const Packet& whole);
  /// Returns the packet at a position, from the BTH through the ICRC, as long as nothing is kept; empty if there is
  /// none.
  [[nodiscard]] Bytes at(std::uint64_t position) const;
  /// True if a packet at this position or behind it is held.
  [[nodiscard]] bool reaches(std::uint64_t position) const { return newest_ != 0 && newest_ >= position; }
  void clear();

 private:
  struct Slot {
    std::uint64_t position = 0;  ///< 0: free
    std::uint32_t length = 0;
  };
  [[nodiscard]] std::size_t index(std::uint64_t position) const { return position & (slots_.size() - 1); }

  std::uint32_t packets_;
  std::uint32_t packet_bytes_;
  std::vector<Slot> slots_;
  std::unique_ptr<std::byte[]> bytes_;  ///< untouched until packets are held, so that they cost no memory
  std::uint64_t newest_ = 0;            ///< position
};

}  // namespace roce::transport::detail
