// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/random.h"

namespace roce::live {

Random::Random(std::optional<std::uint64_t> seed) {
  if (seed) series_.emplace(*seed);
}

std::uint64_t Random::number() {
  if (series_) return (*series_)();
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

Psn Random::psn() {
  return Psn{static_cast<std::uint32_t>(number()) & Psn::kMax};
}

}  // namespace roce::live
