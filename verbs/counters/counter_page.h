// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace roce::verbs {

/// A file with the counters of a device, which all processes at its address map: each writes its own part, and who
/// reads one of the counters adds the parts. It is zeros at first, but for the names.
struct CounterPage {
  static constexpr std::size_t kNames = 160;
  static constexpr std::size_t kCounters = 48;
  static constexpr std::size_t kParts = 256;

  /// A counter as programs look for it in the folder of a port.
  struct Name {
    std::array<char, 60> path{};  ///< such as `hw_counters/out_of_sequence`; zeros behind
    std::uint16_t counter = 0;
    std::uint16_t unit = 1;  ///< what the file shows is the counter divided by this
  };
  using Part = std::array<std::uint64_t, kCounters>;

  std::array<Name, kNames> names;
  std::array<Part, kParts> parts;

  /// Returns what the file of a counter shows.
  [[nodiscard]] std::uint64_t value(const Name& name) {
    std::uint64_t sum = 0;
    for (Part& part : parts) sum += std::atomic_ref{part[name.counter]}.load(std::memory_order_relaxed);
    return sum / name.unit;
  }
};
static_assert(sizeof(CounterPage::Name) == 64);

/// The folder of these files below the root of a tree. A file has the name of its device.
inline constexpr const char* kCounterFolder = "/counters/";

}  // namespace roce::verbs
