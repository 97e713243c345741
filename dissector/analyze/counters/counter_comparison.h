// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/counters/host_counters.h"
#include "analyze/counters/nic_counter_names.h"
#include "analyze/counters/nic_statistics.h"

namespace roce::analyze {

enum class Agreement : std::uint8_t {
  agrees,
  differs,
  cannot_be_told,      ///< the NIC's number alone does not decide
  not_in_the_capture,  ///< the event that it counts is not visible on the wire
  unknown_name,        ///< not a counter of any driver that we know
};

/// `agrees`, `differs`, `cannot be told`, `not in the capture`, `unknown name`
[[nodiscard]] std::string_view to_string(Agreement agreement);

/// A counter of the NIC beside what the capture shows.
struct ComparedCounter {
  std::string name;
  std::uint64_t nic = 0;  ///< its increase, if there is a snapshot from before; else its value
  Agreement agreement{};
  std::optional<Figure> figure{};  ///< not set for `not_in_the_capture` and `unknown_name`
  std::string note{};              ///< explanation; may be empty

  /// Returns the distance of the NIC's number from the range that the capture shows: 0 inside it, nothing without one.
  [[nodiscard]] std::optional<std::int64_t> difference() const;
};

/// Combines several addresses of one host.
[[nodiscard]] HostCounts sum_of(std::span<const HostCounts* const> addresses);

/// Compares every counter of `after`, then those that only `before` has, in their order. Without `before`, the NIC may
/// have counted more than the capture shows.
[[nodiscard]] std::vector<ComparedCounter> compare(const HostCounts& host, NicVendor vendor, const NicStatistics& after,
                                                   const NicStatistics* before);

}  // namespace roce::analyze
