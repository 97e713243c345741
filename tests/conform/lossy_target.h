// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "conform/target/memory_target.h"

namespace roce::conform {

/// Our own endpoint behind a wire that loses frames at random, in both directions.
class LossyTarget final : public MemoryTarget {
 public:
  /// `loss` is the chance of each frame to be lost; `seed` that of the device, `wire_seed` determines which are lost.
  LossyTarget(const transport::Profile& profile, std::uint64_t seed, double loss, std::uint64_t wire_seed)
      : MemoryTarget(profile, seed), is_lost_(loss), random_(wire_seed) {}

  void send(std::span<const std::byte> frame) override {
    if (!is_lost_(random_)) MemoryTarget::send(frame);
  }

  [[nodiscard]] std::optional<SeenFrame> receive(Time until) override {
    for (;;) {
      std::optional<SeenFrame> frame = MemoryTarget::receive(until);
      if (!frame || !is_lost_(random_)) return frame;
    }
  }

 private:
  std::bernoulli_distribution is_lost_;
  std::mt19937_64 random_;
};

}  // namespace roce::conform
