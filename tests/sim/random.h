// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace roce::sim {

/// A generator that gives the same numbers on every machine (splitmix64).
class Random {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t operator()() {
    state_ += 0x9E37'79B9'7F4A'7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D0'49BB'1331'11EBU;
    return mixed ^ (mixed >> 31U);
  }
  /// Returns a number below `bound` (> 0).
  constexpr std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }
  /// True once in `n` times on average.
  constexpr bool one_in(std::uint64_t n) { return below(n) == 0; }

  void fill(std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      const std::uint64_t random = (*this)();
      std::memcpy(bytes.data() + i, &random, std::min<std::size_t>(8, bytes.size() - i));
    }
  }

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }

 private:
  std::uint64_t state_;
};

}  // namespace roce::sim
