// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roce/impair/engine.h"

namespace roce::impair {

/// A frame that is inside the engine.
struct Slot {
  std::vector<std::byte> bytes;
  Direction direction{};
  std::uint64_t packet = 0;
  Time due{};
  std::uint64_t order = 0;       ///< place among those with the same due time
  std::uint64_t sends_left = 1;  ///< 1, and one for each copy
  bool is_first = true;          ///< it has not been polled yet
  bool is_held = false;          ///< counts against the limits of held packets
  std::uint32_t wait_for = 0;    ///< later packets that still have to go on first; 0 if it does not wait
  Time not_before{};             ///< earliest time by its delay
  std::size_t heap_place = 0;
};

/// The frames in the engine, ordered by (due, order). Each is in it once and can be moved; slots keep their buffers.
class Schedule {
 public:
  /// Returns a slot that is not in order yet, with members as constructed, except for `bytes` of an earlier frame.
  std::uint32_t acquire();
  void release(std::uint32_t index) { free_.push_back(index); }
  [[nodiscard]] Slot& operator[](std::uint32_t index) { return slots_[index]; }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  /// Returns the slot that is due first.
  [[nodiscard]] std::uint32_t top() const { return heap_.front(); }
  [[nodiscard]] Time next_due() const { return heap_.empty() ? kNever : slots_[heap_.front()].due; }

  /// Puts a slot in order, after all with the same due time.
  void insert(std::uint32_t index, Time due);
  /// Gives a slot that is in order another due time, after all with the same.
  void move(std::uint32_t index, Time due);
  void pop_top();

 private:
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const;
  void place(std::size_t at, std::uint32_t index);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace roce::impair
