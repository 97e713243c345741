// SPDX-License-Identifier: BSD-2-Clause
#include "roce/fabric/topology.h"

#include <algorithm>

#include "fabric/routes.h"

namespace roce::fabric {

namespace {

constexpr std::uint64_t kLeastRate = 1'000'000;
constexpr std::uint64_t kMostRate = 10'000'000'000'000;
constexpr Duration kLongestDelay = std::chrono::seconds{1};
constexpr std::uint32_t kMostNodes = 1U << 16U;

[[nodiscard]] Topology of_hosts(std::uint32_t hosts) {
  Topology topology;
  topology.hosts = hosts;
  for (std::uint32_t i = 0; i < hosts; ++i) topology.names.push_back("h" + std::to_string(i));
  return topology;
}

NodeId add_switch(Topology& topology, std::string name) {
  topology.names.push_back(std::move(name));
  return topology.hosts + topology.switches++;
}

[[nodiscard]] tl::unexpected<Error> wrong(std::string where, std::string what) {
  return tl::unexpected(Error{std::move(where), std::move(what)});
}

[[nodiscard]] Result<void> check_link(const Topology& topology, const Topology::Link& link, const std::string& where) {
  if (link.a >= topology.nodes() || link.b >= topology.nodes()) return wrong(where, "there is no such node");
  if (link.a == link.b) return wrong(where, topology.names[link.a] + " is linked with itself");
  if (link.spec.rate_bps < kLeastRate || link.spec.rate_bps > kMostRate) {
    return wrong(where + ".rate", "expected 1 Mbit/s to 10 Tbit/s, found " + std::to_string(link.spec.rate_bps));
  }
  if (link.spec.delay < Duration{0} || link.spec.delay > kLongestDelay) {
    return wrong(where + ".delay", "expected 0 to 1 s, found " + std::to_string(link.spec.delay.count()) + " ns");
  }
  if (!(link.spec.loss >= 0 && link.spec.loss <= 1)) {
    return wrong(where + ".loss", "expected a chance of 0 to 1, found " + std::to_string(link.spec.loss));
  }
  return {};
}

[[nodiscard]] Result<void> check_ways(const Topology& topology) {
  const detail::Routes routes{topology};
  // A way that leads from host 0 to a host and back shows all others.
  for (NodeId host = 1; host < topology.hosts; ++host) {
    for (const auto& [from, to] : {std::pair<NodeId, NodeId>{0, host}, {host, 0}}) {
      if (!routes.way(from, to).empty()) continue;
      return wrong("links", "there is no route from " + topology.names[from] + " to " + topology.names[to]);
    }
  }
  return {};
}

}  // namespace

Topology pair(const LinkSpec& link) {
  Topology topology = of_hosts(2);
  topology.links.push_back({0, 1, link});
  return topology;
}

Topology star(std::uint32_t hosts, const LinkSpec& link) {
  Topology topology = of_hosts(hosts);
  const NodeId center = add_switch(topology, "s0");
  for (NodeId host = 0; host < hosts; ++host) topology.links.push_back({host, center, link});
  return topology;
}

Topology dumbbell(std::uint32_t left, std::uint32_t right, const LinkSpec& link, const LinkSpec& core) {
  Topology topology = of_hosts(left + right);
  const NodeId first = add_switch(topology, "s0");
  const NodeId second = add_switch(topology, "s1");
  for (NodeId host = 0; host < left + right; ++host) {
    topology.links.push_back({host, host < left ? first : second, link});
  }
  topology.links.push_back({first, second, core});
  return topology;
}

Topology clos(std::uint32_t leaves, std::uint32_t spines, std::uint32_t hosts, const LinkSpec& link,
              const LinkSpec& core) {
  Topology topology = of_hosts(leaves * hosts);
  for (std::uint32_t i = 0; i < leaves; ++i) add_switch(topology, "leaf" + std::to_string(i));
  for (std::uint32_t i = 0; i < spines; ++i) add_switch(topology, "spine" + std::to_string(i));
  for (NodeId host = 0; host < topology.hosts; ++host) {
    topology.links.push_back({host, topology.hosts + host / hosts, link});
  }
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t spine = 0; spine < spines; ++spine) {
      topology.links.push_back({topology.hosts + leaf, topology.hosts + leaves + spine, core});
    }
  }
  return topology;
}

Topology fat_tree(std::uint32_t k, const LinkSpec& link, const LinkSpec& core) {
  const std::uint32_t half = k / 2;
  Topology topology = of_hosts(k * half * half);
  for (std::uint32_t i = 0; i < k * half; ++i) add_switch(topology, "leaf" + std::to_string(i));
  for (std::uint32_t i = 0; i < k * half; ++i) add_switch(topology, "spine" + std::to_string(i));
  for (std::uint32_t i = 0; i < half * half; ++i) add_switch(topology, "core" + std::to_string(i));
  const NodeId leaves = topology.hosts;
  const NodeId spines = leaves + k * half;
  const NodeId cores = spines + k * half;
  for (NodeId host = 0; host < topology.hosts; ++host) topology.links.push_back({host, leaves + host / half, link});
  for (std::uint32_t pod = 0; pod < k; ++pod) {
    for (std::uint32_t i = 0; i < half; ++i) {
      for (std::uint32_t j = 0; j < half; ++j) {
        topology.links.push_back({leaves + pod * half + i, spines + pod * half + j, core});
        topology.links.push_back({spines + pod * half + i, cores + i * half + j, core});
      }
    }
  }
  return topology;
}

Topology ring(std::uint32_t switches, std::uint32_t hosts, Routing routing, const LinkSpec& link,
              const LinkSpec& core) {
  Topology topology = of_hosts(switches * hosts);
  topology.routing = routing;
  for (std::uint32_t i = 0; i < switches; ++i) add_switch(topology, "s" + std::to_string(i));
  for (NodeId host = 0; host < topology.hosts; ++host) {
    topology.links.push_back({host, topology.hosts + host / hosts, link});
  }
  for (std::uint32_t i = 0; i < switches; ++i) {
    topology.links.push_back({topology.hosts + i, topology.hosts + (i + 1) % switches, core});
  }
  return topology;
}

Result<void> check(const Topology& topology) {
  if (topology.hosts < 2) return wrong("hosts", "expected at least 2, found " + std::to_string(topology.hosts));
  if (topology.nodes() > kMostNodes) {
    return wrong("hosts", "expected at most " + std::to_string(kMostNodes) + " hosts and switches, found " +
                              std::to_string(topology.nodes()));
  }
  if (topology.names.size() != topology.nodes()) return wrong("hosts", "each node needs a name");
  if (topology.routing == Routing::clockwise && topology.switches < 3) {
    return wrong("switches", "a ring has at least 3, found " + std::to_string(topology.switches));
  }
  std::vector<std::uint32_t> links_of(topology.nodes());
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const Topology::Link& link = topology.links[i];
    const std::string where = "links[" + std::to_string(i) + "]";
    if (Result<void> checked = check_link(topology, link, where); !checked) return checked;
    for (const NodeId node : {link.a, link.b}) {
      if (++links_of[node] > 1 && topology.is_host(node)) {
        return wrong(where, topology.names[node] + " is linked already, and a host has one link");
      }
    }
  }
  for (NodeId host = 0; host < topology.hosts; ++host) {
    if (links_of[host] == 0) return wrong("links", "there is no link of " + topology.names[host]);
  }
  return check_ways(topology);
}

}  // namespace roce::fabric
