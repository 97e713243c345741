// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conform/target/target.h"

namespace roce::conform::fuzz {

/// The only way by which frames of programs leave.
class Gate {
 public:
  /// Frames leave at most so often; 0: as fast as they come.
  explicit Gate(std::uint64_t frames_a_second = 0) : frames_a_second_(frames_a_second) {}

  /// Sends a frame when it is its time. False if it would reach somebody else than the device: it is not sent.
  [[nodiscard]] bool send(Target& target, std::span<const std::byte> frame);

 private:
  std::uint64_t frames_a_second_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace roce::conform::fuzz
