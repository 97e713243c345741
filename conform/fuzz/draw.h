// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace roce::conform::fuzz {

using Random = std::mt19937_64;

/// Returns a number of 0 … `below` - 1. Unlike std::uniform_int_distribution it is the same with each library.
[[nodiscard]] inline std::uint64_t draw(Random& random, std::uint64_t below) {
  return random() % below;
}

[[nodiscard]] inline bool happens(Random& random, unsigned percent) {
  return draw(random, 100) < percent;
}

template <typename T, std::size_t N>
[[nodiscard]] const T& one_of(Random& random, const std::array<T, N>& values) {
  return values[draw(random, N)];
}

}  // namespace roce::conform::fuzz
