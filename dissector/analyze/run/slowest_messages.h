// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// Keeps those of the messages added that were completed and took longest. `Item` has a `message`, and perhaps more
/// that is known about it.
template <typename Item>
class SlowestMessages {
 public:
  explicit SlowestMessages(std::size_t most) : most_(most) {}

  /// True if the message would be one of the slowest so far.
  [[nodiscard]] bool takes(const analysis::Message& message) const {
    if (!message.is_completed() || most_ == 0) return false;
    return items_.size() < most_ || is_slower(message, items_.front().message);
  }
  /// Adds one that `takes` is true of.
  void add(Item item) {
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), &has_slower);
    if (items_.size() <= most_) return;
    std::pop_heap(items_.begin(), items_.end(), &has_slower);
    items_.pop_back();
  }
  /// Returns them, the slowest first.
  [[nodiscard]] std::vector<Item> sorted() const {
    std::vector<Item> all = items_;
    std::sort_heap(all.begin(), all.end(), &has_slower);
    return all;
  }

 private:
  static bool is_slower(const analysis::Message& a, const analysis::Message& b) {
    return std::tuple{a.latency(), b.first} > std::tuple{b.latency(), a.first};
  }
  static bool has_slower(const Item& a, const Item& b) { return is_slower(a.message, b.message); }

  std::size_t most_;
  std::vector<Item> items_;  ///< a heap with the quickest of them at the front
};

}  // namespace roce::analyze
