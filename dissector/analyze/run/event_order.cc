// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/event_order.h"

#include <algorithm>

namespace roce::analyze {

void EventOrder::add(const analysis::Verdict& verdict) {
  held_.push_back(verdict);
  if (held_.size() == kHeld) release(kHeld / 2);
}

void EventOrder::finish() {
  release(held_.size());
}

void EventOrder::release(std::size_t count) {
  std::stable_sort(held_.begin(), held_.end(),
                   [](const analysis::Verdict& a, const analysis::Verdict& b) { return a.packet < b.packet; });
  for (std::size_t i = 0; i < count; ++i) use_(++number_, held_[i]);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace roce::analyze
