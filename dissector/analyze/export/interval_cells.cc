// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/interval_cells.h"

namespace roce::analyze {

TimeBin& IntervalCells::at(Key key) {
  const std::int64_t beyond = key.time_ns % width_ns_;
  key.time_ns -= beyond < 0 ? beyond + width_ns_ : beyond;
  if (last_ != nullptr && last_key_ == key) return *last_;
  auto found = cells_.find(key);
  if (found == cells_.end()) {
    if (cells_.size() >= kOpen) release_earliest();
    found = cells_.emplace(key, TimeBin{}).first;
  }
  last_key_ = key;
  last_ = &found->second;
  return *last_;
}

void IntervalCells::release_earliest() {
  last_ = nullptr;
  const std::int64_t earliest = cells_.begin()->first.time_ns;
  while (!cells_.empty() && cells_.begin()->first.time_ns == earliest) {
    use_(cells_.begin()->first, cells_.begin()->second);
    cells_.erase(cells_.begin());
  }
}

void IntervalCells::finish() {
  last_ = nullptr;
  for (const auto& [key, counts] : cells_) use_(key, counts);
  cells_.clear();
}

}  // namespace roce::analyze
