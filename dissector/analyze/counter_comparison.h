// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/host_counters.h"
#include "analyze/nic_counter_names.h"
#include "analyze/nic_statistics.h"

namespace roce::analyze {

enum class Agreement : std::uint8_t {
  agrees,
  differs,
  cannot_be_told,      ///< the NIC's own number says too little
  not_in_the_capture,  ///< what it counts is not on the wire
  unknown_name,        ///< no driver that we know has it
};

/// `agrees`, `differs`, `cannot be told`, `not in the capture`, `unknown name`
[[nodiscard]] std::string_view to_string(Agreement agreement);

/// A counter as the NIC has it beside what the capture shows.
struct ComparedCounter {
  std::string name;
  std::uint64_t nic = 0;  ///< by how much it rose, with a snapshot before; else as it stands
  Agreement agreement{};
  std::optional<Figure> figure{};  ///< none for `not_in_the_capture` and `unknown_name`
  std::string note{};              ///< why, where there is something to say

  /// By how much the NIC's number is outside what the capture shows; 0 inside, none without a figure.
  [[nodiscard]] std::optional<std::int64_t> difference() const;
};

/// One host out of several addresses of it.
[[nodiscard]] HostCounts sum_of(std::span<const HostCounts* const> addresses);

/// Compares every counter of `after`, and those that only `before` has, in their order. Without `before` the NIC may
/// have counted more than the capture has.
[[nodiscard]] std::vector<ComparedCounter> compare(const HostCounts& host, NicVendor vendor, const NicStatistics& after,
                                                   const NicStatistics* before);

}  // namespace roce::analyze
