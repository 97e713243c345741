// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "sim/endpoint.h"

namespace roce::sim {

/// The result of an exchange: both memories and all completions.
struct Outcome {
  std::vector<std::byte> a_memory;
  std::vector<std::byte> b_memory;
  std::vector<transport::Completion> a_sent;
  std::vector<transport::Completion> b_sent;
  std::vector<transport::Completion> a_received;
  std::vector<transport::Completion> b_received;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

inline constexpr std::size_t kMixedMemory = 32U << 10U;

/// Posts one of each operation from `a` and some from `b`, in messages of one and of several packets, at MTU 1024. Two
/// requests that could overtake each other never write the same byte of memory.
void post_mixed(Pair& pair);

/// Runs the exchange to its end.
[[nodiscard]] testing::AssertionResult run_mixed(Pair& pair, Outcome& outcome);

/// Returns the options for the exchange.
[[nodiscard]] Pair::Options mixed_options(const transport::Profile& profile, std::uint64_t seed = 1);

}  // namespace roce::sim
