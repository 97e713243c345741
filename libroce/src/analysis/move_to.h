// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

namespace roce::analysis {

/// Appends everything in `from` to `into`, and leaves `from` empty.
template <typename T>
void move_to(std::vector<T>& from, std::vector<T>& into) {
  if (into.empty()) {
    into.swap(from);
  } else {
    into.insert(into.end(), from.begin(), from.end());
    from.clear();
  }
}

}  // namespace roce::analysis
