// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/event_match.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace roce::conform::fuzz {

std::optional<EventMismatch> find_mismatch(const std::vector<AwaitedEvent>& awaited,
                                           const std::vector<transport::EventType>& seen) {
  const auto seen_at = [&](std::size_t at) {
    return at < seen.size() ? std::optional{seen[at]} : std::optional<transport::EventType>{};
  };
  // Which of those that may come has come is not known: so many can be explained by the awaited ones up to here.
  std::set<std::size_t> explained{0};
  for (const AwaitedEvent& one : awaited) {
    std::set<std::size_t> next;
    for (const std::size_t count : explained) {
      if (!one.is_required) next.insert(count);
      const auto event = seen_at(count);
      if (event && std::ranges::find(one.types, *event) != one.types.end()) next.insert(count + 1);
    }
    if (next.empty()) return EventMismatch{.expected = one.types.front(), .seen = seen_at(*explained.rbegin())};
    explained = std::move(next);
  }
  if (explained.contains(seen.size())) return std::nullopt;
  return EventMismatch{.seen = seen_at(*explained.rbegin())};
}

}  // namespace roce::conform::fuzz
