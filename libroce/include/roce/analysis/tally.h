// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace roce::analysis {

/// Counts for each enumerator of `E`. Only counts that are not 0 take memory:
/// there are many streams, and most have few of them.
template <typename E>
class Tally {
 public:
  struct Entry {
    E what{};
    std::uint64_t count = 0;

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  [[nodiscard]] std::uint64_t operator[](E what) const {
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.what == what; });
    return at == entries_.end() ? 0 : at->count;
  }
  void add(E what, std::uint64_t count = 1) {
    if (count == 0) return;
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.what >= what; });
    if (at != entries_.end() && at->what == what) {
      at->count += count;
    } else {
      entries_.insert(at, {what, count});
    }
  }
  Tally& operator+=(const Tally& other) {
    for (const Entry& each : other.entries_) add(each.what, each.count);
    return *this;
  }

  /// Returns the counts that are not 0, in the order of the enumerators.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  friend bool operator==(const Tally&, const Tally&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace roce::analysis
