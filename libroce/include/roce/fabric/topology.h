// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "roce/fabric/error.h"
#include "roce/wire/time.h"

namespace roce::fabric {

/// Number of a node: hosts from 0 on, then switches.
using NodeId = std::uint32_t;

/// The properties of a link, alike in both directions.
struct LinkSpec {
  std::uint64_t rate_bps = 25'000'000'000;  ///< with preamble, FCS and gap; 10^6 … 10^13
  Duration delay = std::chrono::microseconds{1};
  double loss = 0;  ///< chance of each frame but PFC's to be lost, 0 … 1

  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

/// The choice of ways.
enum class Routing : std::uint8_t {
  shortest,   ///< all shortest ways; a flow takes the one that its addresses and UDP source port select (ECMP)
  clockwise,  ///< from each switch to the one numbered next, and from the last to the first
};

/// Hosts, switches and the links between them. A host has one link.
struct Topology {
  struct Link {
    NodeId a = 0;
    NodeId b = 0;
    LinkSpec spec{};
  };

  std::uint32_t hosts = 0;
  std::uint32_t switches = 0;
  std::vector<Link> links;
  std::vector<std::string> names;  ///< of all nodes: h0, h1 …, then those of the switches
  Routing routing = Routing::shortest;

  [[nodiscard]] std::uint32_t nodes() const { return hosts + switches; }
  [[nodiscard]] bool is_host(NodeId node) const { return node < hosts; }
};

/// Returns two hosts on one link.
[[nodiscard]] Topology pair(const LinkSpec& link);
/// Returns `hosts` hosts on one switch.
[[nodiscard]] Topology star(std::uint32_t hosts, const LinkSpec& link);
/// Returns two switches with a link between them; the first `left` hosts are on the one, `right` on the other.
[[nodiscard]] Topology dumbbell(std::uint32_t left, std::uint32_t right, const LinkSpec& link, const LinkSpec& core);
/// Returns a Clos of two stages: `leaves` switches with `hosts` hosts each, and a link from each to each of `spines`.
/// It is oversubscribed by hosts · rate of `link` / (spines · rate of `core`).
[[nodiscard]] Topology clos(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts, const LinkSpec& link,
                            const LinkSpec& core);
/// Returns a Clos of three stages (a fat tree) of switches with `k` ports, k even: k³/4 hosts in k pods.
[[nodiscard]] Topology fat_tree(std::uint32_t k, const LinkSpec& link, const LinkSpec& core);
/// Returns a ring of `switches` switches with `hosts` hosts each.
[[nodiscard]] Topology ring(std::uint32_t switches, std::uint32_t hosts, Routing routing, const LinkSpec& link,
                            const LinkSpec& core);

/// Checks nodes, links and that every host reaches every other. The places of errors are `hosts`, `switches` and
/// `links[2].rate`.
[[nodiscard]] Result<void> check(const Topology& topology);

}  // namespace roce::fabric
