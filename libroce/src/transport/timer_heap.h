// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "roce/wire/time.h"

namespace roce::transport::detail {

/// Keeps at most one deadline for each of a fixed number of owners, earliest first; owners with equal deadlines are in
/// the order of their numbers.
class TimerHeap {
 public:
  explicit TimerHeap(std::uint32_t owners) : place_(owners, kNowhere) { heap_.reserve(owners); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] Time earliest() const { return heap_.empty() ? kNever : heap_.front().at; }
  [[nodiscard]] std::uint32_t earliest_owner() const { return heap_.front().owner; }

  /// Sets the owner's deadline unless it has an earlier one. A deadline that is put off is left to expire: its owner
  /// then sets the next one, which costs less than moving the deadline for each packet.
  void set_earlier(std::uint32_t owner, Time at) {
    const std::uint32_t place = place_[owner];
    if (place == kNowhere) {
      heap_.push_back({at, owner});
      place_[owner] = static_cast<std::uint32_t>(heap_.size() - 1);
      rise(place_[owner]);
    } else if (at < heap_[place].at) {
      heap_[place].at = at;
      rise(place);
    }
  }

  void remove(std::uint32_t owner) {
    const std::uint32_t place = place_[owner];
    if (place == kNowhere) return;
    place_[owner] = kNowhere;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    heap_[place] = last;
    place_[last.owner] = place;
    rise(place);
    sink(place_[last.owner]);
  }

 private:
  struct Entry {
    Time at;
    std::uint32_t owner;

    friend bool operator<(const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.owner < b.owner; }
  };
  static constexpr std::uint32_t kNowhere = ~0U;

  void exchange(std::uint32_t a, std::uint32_t b) {
    std::swap(heap_[a], heap_[b]);
    place_[heap_[a].owner] = a;
    place_[heap_[b].owner] = b;
  }
  void rise(std::uint32_t i) {
    while (i > 0 && heap_[i] < heap_[(i - 1) / 2]) {
      exchange(i, (i - 1) / 2);
      i = (i - 1) / 2;
    }
  }
  void sink(std::uint32_t i) {
    for (;;) {
      std::uint32_t least = i;
      for (std::uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < heap_.size(); ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (least == i) return;
      exchange(i, least);
      i = least;
    }
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  ///< the place of each owner in the heap
};

}  // namespace roce::transport::detail
