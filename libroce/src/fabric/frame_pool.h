// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "roce/wire/types.h"

namespace roce::fabric::detail {

inline constexpr std::uint32_t kNone = ~0U;

/// The knowledge of nodes about a frame beside its bytes.
struct Frame {
  std::uint32_t next = kNone;  ///< behind it in a queue, or the next free one
  std::uint32_t size = 0;
  std::uint32_t to = 0;       ///< host
  std::uint32_t hash = 0;     ///< of addresses and UDP source port
  std::uint32_t came_by = 0;  ///< the port that received it, in a switch
  std::uint8_t priority = 0;
  bool is_ect = false;  ///< may be marked
  bool is_pfc = false;
};

/// Frames with room for the largest one each. A frame stays in its place from its sender to its receiver.
class FramePool {
 public:
  explicit FramePool(std::uint32_t largest) : room_((largest + 63U) / 64U * 64U) {}

  [[nodiscard]] std::uint32_t take() {
    if (free_ == kNone) grow();
    const std::uint32_t id = free_;
    free_ = frames_[id].next;
    return id;
  }
  void give_back(std::uint32_t id) {
    frames_[id].next = free_;
    free_ = id;
  }
  [[nodiscard]] Frame& operator[](std::uint32_t id) { return frames_[id]; }
  [[nodiscard]] const Frame& operator[](std::uint32_t id) const { return frames_[id]; }
  /// Returns the room of a frame.
  [[nodiscard]] std::span<std::byte> room(std::uint32_t id) {
    return {chunks_[id / kChunk].get() + std::size_t{id % kChunk} * room_, room_};
  }
  [[nodiscard]] Bytes bytes(std::uint32_t id) { return room(id).first(frames_[id].size); }
  [[nodiscard]] std::size_t memory() const { return frames_.size() * (room_ + sizeof(Frame)); }

 private:
  static constexpr std::uint32_t kChunk = 1024;

  void grow() {
    const auto begin = static_cast<std::uint32_t>(frames_.size());
    chunks_.push_back(std::make_unique<std::byte[]>(std::size_t{kChunk} * room_));
    frames_.resize(frames_.size() + kChunk);
    for (std::uint32_t id = begin + kChunk; id > begin; --id) give_back(id - 1);
  }

  std::uint32_t room_;
  std::uint32_t free_ = kNone;
  std::vector<Frame> frames_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace roce::fabric::detail
