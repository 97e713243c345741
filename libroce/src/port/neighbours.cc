// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/neighbours.h"

namespace roce::port {

void StaticNeighbours::set(const Gid& ip, std::optional<std::uint16_t> vlan_id, const MacAddress& mac) {
  const Key key{ip, vlan_id};
  const auto [entry, is_new] = entries_.insert_or_assign(key, mac);
  if (asked_.contains(key)) answers_.push_back({ip, vlan_id, entry->second});
}

std::optional<MacAddress> StaticNeighbours::find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time /*now*/) {
  const Key key{ip, vlan_id};
  asked_.insert(key);
  const auto entry = entries_.find(key);
  return entry != entries_.end() ? entry->second : everybody_;
}

std::vector<Neighbours::Answer> StaticNeighbours::poll(Time /*now*/) {
  return std::exchange(answers_, {});
}

std::string StaticNeighbours::why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) {
  return "no MAC address was given for " + to_string(ip) +
         (vlan_id ? " in VLAN " + std::to_string(*vlan_id) : std::string{}) + "; give one";
}

}  // namespace roce::port
