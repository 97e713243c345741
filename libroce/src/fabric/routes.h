// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "roce/fabric/fabric.h"
#include "roce/fabric/topology.h"

namespace roce::fabric::detail {

/// The ports by which each node reaches each host.
class Routes {
 public:
  explicit Routes(const Topology& topology);

  /// Returns the ports of a node that lead to a host: none if there is no way, several if several are as good.
  [[nodiscard]] std::span<const PortId> to(NodeId node, NodeId host) const {
    const Range& range = ranges_[std::size_t{node} * destinations_ + destination_[host]];
    if (node == behind_[host]) return {&last_port_[host], 1};
    return {ports_.data() + range.begin, range.count};
  }
  /// Returns the port among those of `to` that a flow with this hash takes; the span must not be empty.
  [[nodiscard]] PortId choose(NodeId node, NodeId host, std::uint32_t hash) const {
    const std::span<const PortId> choice = to(node, host);
    return choice.size() == 1 ? choice[0] : choice[std::uint64_t{hash} * choice.size() >> 32U];
  }
  /// Returns the ports of the way of a host to another, the first of several; empty if there is none.
  [[nodiscard]] std::vector<PortId> way(NodeId from, NodeId to) const;

 private:
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  void add_shortest(const Topology& topology, const std::vector<std::vector<PortId>>& ports_of, NodeId destination);
  void add_clockwise(const Topology& topology, const std::vector<std::vector<PortId>>& ports_of, NodeId destination);
  [[nodiscard]] NodeId other(PortId port) const { return ends_[port ^ 1U]; }

  std::uint32_t destinations_ = 0;          ///< nodes that hosts are on
  std::vector<std::uint32_t> destination_;  ///< by host: the number of the node that it is on
  std::vector<NodeId> behind_;              ///< by host: that node
  std::vector<PortId> last_port_;           ///< by host: the port of that node to it
  std::vector<NodeId> ends_;                ///< by port: its node
  std::vector<Range> ranges_;               ///< by node and destination
  std::vector<PortId> ports_;
};

}  // namespace roce::fabric::detail
