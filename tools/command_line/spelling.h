// SPDX-License-Identifier: BSD-2-Clause
// What somebody may have meant who wrote a name that there is not.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roce::command_line {

/// Insertions, deletions, replacements and exchanges of neighbours that make `a` into `b`, ignoring the case of ASCII
/// letters.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// How many of these still look like a slip in `wanted`.
[[nodiscard]] std::size_t most_slips(std::string_view wanted);

/// A name, and how far from what was wanted it is. Views into names of the caller's.
struct Candidate {
  std::size_t distance = 0;
  std::string_view name;
};

/// At most three of the names, the nearest first, and of equally near ones the earlier first.
[[nodiscard]] std::vector<std::string> nearest_of(std::vector<Candidate> candidates);

/// At most three of `names` that are spelt like `wanted`, the most similar first.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string_view> names);

}  // namespace roce::command_line
