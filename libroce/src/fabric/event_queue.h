// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::fabric::detail {

/// Time inside of a fabric: picoseconds since the start, because a byte takes less than a nanosecond.
using Picoseconds = std::int64_t;

enum class EventKind : std::uint8_t {
  arrival,           ///< frame `value` has come over the link of port `target`
  port_free,         ///< port `target` can begin to send
  host_timer,        ///< a timer of the device of host `target`
  pause_end,         ///< a pause of port `target` may be over
  pfc_renewal,       ///< port `target` has to renew the pauses of its other end
  watchdog,          ///< priority `value` of port `target` may have been paused for too long
  watchdog_restore,  ///< the watchdog may give priority `value` of port `target` free again
  flow_start,        ///< flow `target` begins
  storm,             ///< a storm of host `target` begins or ends
};

struct Event {
  Picoseconds at = 0;
  std::uint64_t order = 0;  ///< events of one time happen in the order in which they were added
  std::uint32_t target = 0;
  std::uint32_t value = 0;
  EventKind kind{};
};

/// Events by time: a heap with four children a node, which touches half as many lines of the cache as one with two.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& first() const { return heap_.front(); }

  void add(Picoseconds at, EventKind kind, std::uint32_t target, std::uint32_t value = 0) {
    const Event event{at, order_++, target, value, kind};
    std::size_t place = heap_.size();
    heap_.push_back(event);
    while (place > 0) {
      const std::size_t parent = (place - 1) / kChildren;
      if (!is_before(event, heap_[parent])) break;
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = event;
  }

  Event take() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return first;
    std::size_t place = 0;
    for (;;) {
      const std::size_t begin = place * kChildren + 1;
      if (begin >= size) break;
      std::size_t least = begin;
      const std::size_t end = begin + kChildren < size ? begin + kChildren : size;
      for (std::size_t child = begin + 1; child < end; ++child) {
        if (is_before(heap_[child], heap_[least])) least = child;
      }
      if (!is_before(heap_[least], last)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = last;
    return first;
  }

 private:
  static constexpr std::size_t kChildren = 4;
  [[nodiscard]] static bool is_before(const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }

  std::vector<Event> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace roce::fabric::detail
