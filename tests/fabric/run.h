// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "roce/fabric/fabric.h"

namespace roce::fabric::test {

/// Returns a fabric; throws the error if there is one.
[[nodiscard]] inline Fabric make(Topology topology, const Config& config, std::vector<Flow> flows) {
  fabric::Result<Fabric> made = Fabric::make(std::move(topology), config, std::move(flows));
  if (!made) throw std::runtime_error(to_string(made.error()));
  return std::move(*made);
}

/// Runs until `end`, and returns the bits a second that each flow delivered meanwhile.
[[nodiscard]] inline std::vector<double> goodput_until(Fabric& fabric, Time end) {
  const double seconds = static_cast<double>((end - fabric.now()).count()) / 1e9;
  const auto flows = static_cast<std::uint32_t>(fabric.flows().size());
  std::vector<double> rates(flows);
  for (std::uint32_t i = 0; i < flows; ++i) rates[i] = -static_cast<double>(fabric.flow_state(i).delivered);
  fabric.run_until(end);
  for (std::uint32_t i = 0; i < flows; ++i) {
    rates[i] = (rates[i] + static_cast<double>(fabric.flow_state(i).delivered)) * 8 / seconds;
  }
  return rates;
}

/// Returns the sum of a counter over all hosts.
[[nodiscard]] inline std::uint64_t sum(const Fabric& fabric, std::uint64_t transport::Counters::*counter) {
  std::uint64_t total = 0;
  for (NodeId host = 0; host < fabric.topology().hosts; ++host) total += fabric.host_counters(host).*counter;
  return total;
}

/// Bits a second of payload that a link of 25 Gbit/s carries in packets of 1024 bytes: 1082 bytes of frame, and FCS,
/// preamble and gap.
inline constexpr double kFull = 25e9 * 1024 / 1106;

}  // namespace roce::fabric::test
