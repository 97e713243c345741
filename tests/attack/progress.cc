// SPDX-License-Identifier: BSD-2-Clause
#include "progress.h"

#include <fmt/format.h>

#include <cstdio>

namespace roce::attack {

void Progress::tell(std::string_view event) {
  fmt::print("{{\"event\":\"{}\"}}\n", event);
  std::fflush(stdout);
}

void Progress::reached(std::uint64_t done) {
  constexpr std::uint64_t samples = 100;
  if (done < next_sample_) return;
  next_sample_ += steps_ / samples;
  tell("sample");
}

}  // namespace roce::attack
