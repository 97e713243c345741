// SPDX-License-Identifier: BSD-2-Clause
#include "gen/random.h"

#include <optional>
#include <random>

namespace roce::gen {

namespace {

std::optional<std::mt19937_64>& series() {
  static std::optional<std::mt19937_64> numbers;
  return numbers;
}

}  // namespace

std::uint64_t random_number() {
  if (series()) return (*series())();
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

Psn random_psn() {
  return Psn{static_cast<std::uint32_t>(random_number()) & Psn::kMax};
}

void seed_random(std::uint64_t seed) {
  series().emplace(seed);
}

}  // namespace roce::gen
