// SPDX-License-Identifier: BSD-2-Clause
#include "fabric/egress.h"

#include <algorithm>
#include <bit>

namespace roce::fabric::detail {

Quanta quanta_of(const std::array<std::uint32_t, kPriorities>& weights, std::uint32_t largest) {
  std::uint32_t least = UINT32_MAX;
  for (const std::uint32_t weight : weights) {
    if (weight != 0) least = std::min(least, weight);
  }
  Quanta quanta{};
  for (std::uint32_t i = 0; i < kPriorities; ++i) {
    quanta[i] = static_cast<std::uint32_t>(std::uint64_t{largest} * weights[i] / least);
  }
  return quanta;
}

void Egress::push(FramePool& pool, std::uint32_t frame) {
  Frame& added = pool[frame];
  added.next = kNone;
  Queue& queue = queues_[added.priority];
  if (queue.first == kNone) {
    queue.first = frame;
  } else {
    pool[queue.last].next = frame;
  }
  queue.last = frame;
  queue.bytes += added.size;
  filled_ |= bit_of(added.priority);
}

std::uint32_t Egress::choose(const FramePool& pool, std::uint8_t may_send, const Quanta& quanta) {
  const auto ready = static_cast<std::uint8_t>(filled_ & may_send);
  if (ready == 0) return kNone;
  std::uint8_t weighted = 0;
  for (std::uint32_t i = kPriorities; i-- > 0;) {
    if ((ready & bit_of(i)) == 0) continue;
    if (quanta[i] == 0) return i;
    weighted |= bit_of(i);
  }
  if (std::has_single_bit(weighted)) return static_cast<std::uint32_t>(std::countr_zero(weighted));
  while (true) {
    Queue& queue = queues_[turn_];
    if ((weighted & bit_of(turn_)) != 0 && pool[queue.first].size <= queue.deficit) return turn_;
    turn_ = (turn_ + 1) % kPriorities;
    if ((weighted & bit_of(turn_)) != 0) queues_[turn_].deficit += quanta[turn_];
  }
}

std::uint32_t Egress::pop(const FramePool& pool, std::uint32_t priority, const Quanta& quanta) {
  Queue& queue = queues_[priority];
  const std::uint32_t frame = queue.first;
  const std::uint32_t size = pool[frame].size;
  queue.first = pool[frame].next;
  queue.bytes -= size;
  if (quanta[priority] != 0) queue.deficit -= std::min<std::uint64_t>(size, queue.deficit);
  if (queue.first == kNone) {
    queue.last = kNone;
    queue.deficit = 0;  // whoever has nothing to send saves nothing up
    filled_ &= static_cast<std::uint8_t>(~bit_of(priority));
  }
  return frame;
}

}  // namespace roce::fabric::detail
