// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/fabric/fabric.h"

namespace roce::gen {

inline constexpr std::uint8_t kPriorities = 8;
/// Returns how long all priorities of a port were paused so far, added up.
[[nodiscard]] Duration paused_time(const fabric::Fabric& fabric, fabric::PortId port);

/// Returns the value at a share (0 to 1) of values in order, of which there is at least one, by the nearest rank.
template <typename Value>
[[nodiscard]] Value at_share(const std::vector<Value>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

/// Percentiles of values, by the nearest rank.
struct Percentiles {
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double most = 0;
};
/// Returns percentiles; empty without values.
[[nodiscard]] std::optional<Percentiles> percentiles_of(std::vector<double> values);

/// The fate of the flows of one workload.
struct WorkloadSummary {
  std::uint64_t flows = 0;
  std::uint64_t started = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;
  std::uint64_t delivered = 0;             ///< bytes
  std::optional<Time> last_finish{};       ///< of the last one, if all have finished
  double goodput_bps = 0;                  ///< from the first start to the last finish, or until now
  double jain = 0;                         ///< fairness of what flows delivered while they lasted; 0 without any
  std::optional<Percentiles> times{};      ///< of completion, ns
  std::optional<Percentiles> slowdowns{};  ///< times over those of a flow alone
};
[[nodiscard]] std::vector<WorkloadSummary> summarize_workloads(const fabric::Fabric& fabric, std::size_t workloads);

/// The counts of hosts and switches.
struct NetworkSummary {
  std::uint64_t retransmitted = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t cnps = 0;
  Duration host_paused{};    ///< sum over hosts and priorities
  Duration switch_paused{};  ///< sum over ports of switches and priorities
  std::uint64_t longest_queue = 0;
  fabric::PortId longest_queue_at = 0;
};
[[nodiscard]] NetworkSummary summarize_network(const fabric::Fabric& fabric);

}  // namespace roce::gen
