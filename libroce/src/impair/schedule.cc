// SPDX-License-Identifier: BSD-2-Clause
#include "impair/schedule.h"

#include <utility>

namespace roce::impair {

std::uint32_t Schedule::acquire() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  std::vector<std::byte> bytes = std::move(slots_[index].bytes);
  slots_[index] = Slot{};
  slots_[index].bytes = std::move(bytes);
  return index;
}

void Schedule::insert(std::uint32_t index, Time due) {
  slots_[index].due = due;
  slots_[index].order = next_order_++;
  heap_.push_back(index);
  slots_[index].heap_place = heap_.size() - 1;
  sift_up(heap_.size() - 1);
}

void Schedule::move(std::uint32_t index, Time due) {
  slots_[index].due = due;
  slots_[index].order = next_order_++;
  sift_up(slots_[index].heap_place);
  sift_down(slots_[index].heap_place);
}

void Schedule::pop_top() {
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  place(0, last);
  sift_down(0);
}

bool Schedule::before(std::uint32_t a, std::uint32_t b) const {
  return slots_[a].due != slots_[b].due ? slots_[a].due < slots_[b].due : slots_[a].order < slots_[b].order;
}

void Schedule::place(std::size_t at, std::uint32_t index) {
  heap_[at] = index;
  slots_[index].heap_place = at;
}

void Schedule::sift_up(std::size_t at) {
  const std::uint32_t index = heap_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (!before(index, heap_[parent])) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, index);
}

void Schedule::sift_down(std::size_t at) {
  const std::uint32_t index = heap_[at];
  while (true) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], index)) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, index);
}

}  // namespace roce::impair
