// SPDX-License-Identifier: BSD-2-Clause
#include "fabric/routes.h"

#include <limits>

namespace roce::fabric::detail {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Routes::Routes(const Topology& topology)
    : destination_(topology.hosts), behind_(topology.hosts), last_port_(topology.hosts) {
  std::vector<std::vector<PortId>> ports_of(topology.nodes());
  for (const Topology::Link& link : topology.links) {
    const auto port = static_cast<PortId>(ends_.size());
    ends_.push_back(link.a);
    ends_.push_back(link.b);
    ports_of[link.a].push_back(port);
    ports_of[link.b].push_back(port + 1);
  }
  std::vector<std::uint32_t> number(topology.nodes(), kFar);
  std::vector<NodeId> found;
  for (NodeId host = 0; host < topology.hosts; ++host) {
    if (ports_of[host].empty()) continue;
    last_port_[host] = ports_of[host][0] ^ 1U;
    behind_[host] = ends_[last_port_[host]];
    if (number[behind_[host]] == kFar) {
      number[behind_[host]] = static_cast<std::uint32_t>(found.size());
      found.push_back(behind_[host]);
    }
    destination_[host] = number[behind_[host]];
  }
  destinations_ = static_cast<std::uint32_t>(found.size());
  ranges_.resize(std::size_t{topology.nodes()} * destinations_);
  for (const NodeId destination : found) {
    if (topology.routing == Routing::clockwise) {
      add_clockwise(topology, ports_of, destination);
    } else {
      add_shortest(topology, ports_of, destination);
    }
  }
}

void Routes::add_shortest(const Topology& topology, const std::vector<std::vector<PortId>>& ports_of,
                          NodeId destination) {
  std::vector<std::uint32_t> distance(topology.nodes(), kFar);
  std::vector<NodeId> reached{destination};
  distance[destination] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const NodeId node = reached[i];
    if (topology.is_host(node) && node != destination) continue;  // hosts pass nothing on
    for (const PortId port : ports_of[node]) {
      if (distance[other(port)] != kFar) continue;
      distance[other(port)] = distance[node] + 1;
      reached.push_back(other(port));
    }
  }
  std::uint32_t column = 0;
  for (NodeId host = 0; host < topology.hosts; ++host) {
    if (!ports_of[host].empty() && behind_[host] == destination) column = destination_[host];
  }
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (node == destination || distance[node] == kFar) continue;
    Range& range = ranges_[std::size_t{node} * destinations_ + column];
    range.begin = static_cast<std::uint32_t>(ports_.size());
    for (const PortId port : ports_of[node]) {
      const bool passes_on = !topology.is_host(other(port)) || other(port) == destination;
      if (passes_on && distance[other(port)] + 1 == distance[node]) ports_.push_back(port);
    }
    range.count = static_cast<std::uint32_t>(ports_.size()) - range.begin;
  }
}

void Routes::add_clockwise(const Topology& topology, const std::vector<std::vector<PortId>>& ports_of,
                           NodeId destination) {
  std::uint32_t column = 0;
  for (NodeId host = 0; host < topology.hosts; ++host) {
    if (!ports_of[host].empty() && behind_[host] == destination) column = destination_[host];
  }
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (node == destination) continue;
    const NodeId next = topology.hosts + (node + 1 - topology.hosts) % topology.switches;
    Range& range = ranges_[std::size_t{node} * destinations_ + column];
    range.begin = static_cast<std::uint32_t>(ports_.size());
    for (const PortId port : ports_of[node]) {
      // A host has one port.
      if (topology.is_host(node) || other(port) == next) ports_.push_back(port);
    }
    range.count = static_cast<std::uint32_t>(ports_.size()) - range.begin;
  }
}

std::vector<PortId> Routes::way(NodeId from, NodeId to) const {
  std::vector<PortId> ports;
  NodeId node = from;
  while (node != to && ports.size() <= ends_.size()) {
    const std::span<const PortId> choice = this->to(node, to);
    if (choice.empty()) return {};
    ports.push_back(choice[0]);
    node = other(choice[0]);
  }
  if (node != to) return {};
  return ports;
}

}  // namespace roce::fabric::detail
