// SPDX-License-Identifier: BSD-2-Clause
#include "command_line/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace roce::command_line {

namespace {

constexpr std::size_t kSuggestions = 3;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::size_t most_slips(std::string_view wanted) {
  return std::max<std::size_t>(wanted.size() / 4, wanted.size() > 3 ? 2 : 1);
}

std::vector<std::string> nearest_of(std::vector<Candidate> candidates) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) {
    if (names.size() < kSuggestions) names.emplace_back(candidate.name);
  }
  return names;
}

std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string_view> names) {
  std::vector<Candidate> candidates;
  const std::size_t most = most_slips(wanted);
  for (const std::string_view name : names) {
    // Texts may be of any length: two texts differ by at least as much as their lengths do.
    if (std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size()) > most) continue;
    const std::size_t distance = edit_distance(wanted, name);
    if (distance <= most) candidates.push_back({distance, name});
  }
  return nearest_of(std::move(candidates));
}

}  // namespace roce::command_line
