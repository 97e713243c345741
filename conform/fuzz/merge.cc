// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/merge.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_set>

namespace roce::conform::fuzz {

namespace {

/// A program with the signatures that it added when it was looked at.
struct Candidate {
  std::size_t added = 0;
  std::size_t actions = 0;
  std::size_t index = 0;

  /// The greatest is the best.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tuple{a.added, b.actions, b.index} < std::tuple{b.added, a.actions, a.index};
  }
};

}  // namespace

std::vector<std::size_t> choose_fewest(const std::vector<Measured>& programs) {
  std::unordered_set<std::uint64_t> covered;
  const auto count_added = [&](const Measured& program) {
    std::unordered_set<std::uint64_t> added;
    for (const std::uint64_t signature : program.signatures) {
      if (!covered.contains(signature)) added.insert(signature);
    }
    return added.size();
  };
  std::priority_queue<Candidate> candidates;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    candidates.push({.added = count_added(programs[i]), .actions = programs[i].actions, .index = i});
  }
  std::vector<std::size_t> chosen;
  while (!candidates.empty() && candidates.top().added != 0) {
    Candidate best = candidates.top();
    candidates.pop();
    // A program never adds more than when it was last looked at.
    const std::size_t added = count_added(programs[best.index]);
    if (added != best.added) {
      best.added = added;
      candidates.push(best);
      continue;
    }
    covered.insert(programs[best.index].signatures.begin(), programs[best.index].signatures.end());
    chosen.push_back(best.index);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace roce::conform::fuzz
