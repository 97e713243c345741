// SPDX-License-Identifier: BSD-2-Clause
// Suggestions in place of a name that does not exist.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roce::command_line {

/// Returns the number of insertions, deletions, replacements and exchanges of neighbours that make `a` into `b`,
/// ignoring the case of ASCII letters.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the largest such number that still looks like a slip in `wanted`.
[[nodiscard]] std::size_t most_slips(std::string_view wanted);

/// A name, and its distance from what was wanted. Refers to names of the caller's.
struct Candidate {
  std::size_t distance = 0;
  std::string_view name;
};

/// Returns at most three of the names, the nearest first, and among equally near ones the earlier first.
[[nodiscard]] std::vector<std::string> nearest_of(std::vector<Candidate> candidates);

/// Returns at most three of `names` that are spelt like `wanted`, the most similar first.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string_view> names);

}  // namespace roce::command_line
