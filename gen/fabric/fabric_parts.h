// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gen/fabric/fabric_fields.h"
#include "roce/fabric/config.h"
#include "roce/fabric/topology.h"
#include "roce/fabric/workload.h"

namespace roce::gen {

// The parts of a fabric's file. Each throws `Mistake`.

[[nodiscard]] fabric::Topology read_topology(const YAML::Node& node, Places& places);
void read_hosts(const YAML::Node& node, fabric::HostConfig& hosts, Places& places);
void read_switches(const YAML::Node& node, fabric::SwitchConfig& switches, Places& places);
/// Reads the list `storms`, of hosts that stop their switch.
void read_storms(const YAML::Node& node, std::vector<fabric::Storm>& storms, Places& places);

/// The material of workloads, beside their own values.
struct WorkloadContext {
  const fabric::Topology& topology;
  std::uint64_t seed = 1;
  Duration duration{0};
};
/// Appends the flows of the workload number `index`, whose `Flow::group` it is, and returns its name.
[[nodiscard]] std::string read_workload(const YAML::Node& node, std::uint32_t index, const WorkloadContext& context,
                                        std::vector<fabric::Flow>& flows, Places& places);

}  // namespace roce::gen
