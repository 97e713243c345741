// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "roce/wire/types.h"

namespace roce::live {

/// The random numbers of an endpoint, for keys, QPNs and PSNs: such as cannot be guessed, or a series that can be
/// repeated, for simulations. Belongs to one thread.
class Random {
 public:
  /// Without `seed`, numbers come from the system.
  explicit Random(std::optional<std::uint64_t> seed = {});

  [[nodiscard]] std::uint64_t number();
  /// Returns a PSN made of one of these numbers.
  [[nodiscard]] Psn psn();

 private:
  std::optional<std::mt19937_64> series_;
};

}  // namespace roce::live
