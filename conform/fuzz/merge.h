// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::conform::fuzz {

/// A program by what is to be known of it for a choice.
struct Measured {
  std::vector<std::uint64_t> signatures;
  std::size_t actions = 0;
};

/// Returns the indexes, in ascending order, of programs that together have all signatures. The next one chosen is
/// always one that adds the most, and the shortest of these: seldom could fewer do.
[[nodiscard]] std::vector<std::size_t> choose_fewest(const std::vector<Measured>& programs);

}  // namespace roce::conform::fuzz
