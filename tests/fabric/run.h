// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
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

/// Expects that flows got the parts of a link in `wanted`, in its bytes, within 2 %: a packet has `around` bytes beside
/// its payload.
inline void expect_parts(const Fabric& fabric, std::vector<double> rates, std::uint32_t around,
                         const std::vector<double>& wanted) {
  double sum = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const std::uint32_t mtu = fabric.flows()[i].mtu;
    rates[i] *= static_cast<double>(mtu + around) / mtu;
    sum += rates[i];
  }
  for (std::size_t i = 0; i < rates.size(); ++i)
    EXPECT_NEAR(rates[i] / sum, wanted[i], 0.02 * wanted[i]) << "flow " << i;
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
