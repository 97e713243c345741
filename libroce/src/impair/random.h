// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::impair {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014): small, with the same
/// numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E37'79B9'7F4A'7C15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30U) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ z >> 27U) * 0x94D0'49BB'1331'11EBU;
    return z ^ z >> 31U;
  }

  /// Returns true with `probability`, 0 … 1.
  bool chance(double probability) {
    constexpr double step = 1.0 / static_cast<double>(std::uint64_t{1} << 53U);
    return static_cast<double>(next() >> 11U) * step < probability;
  }

  /// Returns a number below `bound`, which is not 0 and fits in 32 bits.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>((next() >> 32U) * bound >> 32U); }

 private:
  std::uint64_t state_;
};

}  // namespace roce::impair
