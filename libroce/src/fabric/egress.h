// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "fabric/event_queue.h"
#include "fabric/frame_pool.h"

namespace roce::fabric::detail {

inline constexpr std::uint32_t kPriorities = 8;

[[nodiscard]] constexpr std::uint8_t bit_of(std::uint32_t priority) {
  return static_cast<std::uint8_t>(1U << priority);
}

/// How many bytes each queue may send in a round; 0: strict.
using Quanta = std::array<std::uint32_t, kPriorities>;
/// Returns the quanta of weights: the least weight may send a frame of `largest` bytes in each round, so that
/// a search for the next frame passes each queue once.
[[nodiscard]] Quanta quanta_of(const std::array<std::uint32_t, kPriorities>& weights, std::uint32_t largest);

/// The eight queues of a switch's port. Strict ones go first, the highest before others; the rest share by bytes
/// (Shreedhar and Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995).
class Egress {
 public:
  void push(FramePool& pool, std::uint32_t frame);
  /// Returns the priority of the frame that goes next, of those whose bits are set in `may_send`; `kNone` if there is
  /// none. The share of the queue is charged by `pop`.
  [[nodiscard]] std::uint32_t choose(const FramePool& pool, std::uint8_t may_send, const Quanta& quanta);
  /// Removes the first frame of a queue that is not empty.
  std::uint32_t pop(const FramePool& pool, std::uint32_t priority, const Quanta& quanta);

  /// Bit p is set if queue p has frames.
  [[nodiscard]] std::uint8_t filled() const { return filled_; }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t priority) const { return queues_[priority].bytes; }
  [[nodiscard]] std::uint32_t first(std::uint32_t priority) const { return queues_[priority].first; }

 private:
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint64_t bytes = 0;
    std::uint64_t deficit = 0;  ///< bytes that it may still send in this round
  };

  std::array<Queue, kPriorities> queues_{};
  std::uint8_t filled_ = 0;
  std::uint8_t turn_ = 0;  ///< the queue whose round it is
};

}  // namespace roce::fabric::detail
