// SPDX-License-Identifier: BSD-2-Clause
#include "roce/fabric/workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "roce/wire/constants.h"

namespace roce::fabric {

namespace {

[[nodiscard]] Flow flow_of(NodeId from, NodeId to, std::uint64_t bytes, const FlowTraits& traits) {
  return {.from = from,
          .to = to,
          .bytes = bytes,
          .start = traits.start,
          .priority = traits.priority,
          .mtu = traits.mtu,
          .group = traits.group};
}

// The distributions of the standard library give other numbers with each library: these do not.

/// Returns a number of 0 to below 1.
[[nodiscard]] double fraction(std::mt19937_64& random) {
  constexpr double step = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(random() >> 11U) * step;
}
[[nodiscard]] std::uint32_t below(std::mt19937_64& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>((random() >> 32U) * bound >> 32U);
}

[[nodiscard]] std::uint64_t size_of(const SizeDistribution& sizes, double share) {
  std::uint64_t low_size = 0;
  double low_share = 0;
  for (const auto& [size, up_to] : sizes) {
    if (share < up_to) {
      // One point alone is a size, not a range.
      if (sizes.size() == 1) return size;
      const double part = (share - low_share) / (up_to - low_share);
      const double bytes = static_cast<double>(low_size) + part * static_cast<double>(size - low_size);
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes));
    }
    low_size = size;
    low_share = up_to;
  }
  return std::max<std::uint64_t>(1, low_size);
}

[[nodiscard]] tl::unexpected<Error> wrong(std::size_t flow, const std::string& member, std::string what) {
  return tl::unexpected(Error{"flows[" + std::to_string(flow) + "]" + member, std::move(what)});
}

}  // namespace

double mean_of(const SizeDistribution& sizes) {
  if (sizes.size() == 1) return static_cast<double>(sizes[0].first);
  double mean = 0;
  double low_size = 0;
  double low_share = 0;
  for (const auto& [size, up_to] : sizes) {
    mean += (up_to - low_share) * (low_size + static_cast<double>(size)) / 2;
    low_size = static_cast<double>(size);
    low_share = up_to;
  }
  return mean;
}

void add_incast(std::vector<Flow>& flows, std::span<const NodeId> senders, NodeId to, std::uint64_t bytes,
                const FlowTraits& traits) {
  for (const NodeId sender : senders) flows.push_back(flow_of(sender, to, bytes, traits));
}

void add_permutation(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, std::uint64_t seed,
                     const FlowTraits& traits) {
  std::mt19937_64 random{seed};
  std::vector<NodeId> order(hosts);
  std::iota(order.begin(), order.end(), NodeId{0});
  for (std::uint32_t i = hosts; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  // Around one circle nobody sends to itself.
  std::vector<NodeId> receiver(hosts);
  for (std::uint32_t i = 0; i < hosts; ++i) receiver[order[i]] = order[(i + 1) % hosts];
  for (NodeId host = 0; host < hosts; ++host) flows.push_back(flow_of(host, receiver[host], bytes, traits));
}

void add_all_to_all(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, const FlowTraits& traits) {
  for (std::uint32_t step = 1; step < hosts; ++step) {
    for (NodeId host = 0; host < hosts; ++host) {
      flows.push_back(flow_of(host, (host + step) % hosts, bytes, traits));
    }
  }
}

void add_ring_all_reduce(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, const FlowTraits& traits) {
  const std::uint64_t part = std::max<std::uint64_t>(1, (bytes + hosts - 1) / hosts);
  const auto first = static_cast<std::uint32_t>(flows.size());
  for (std::uint32_t step = 0; step < 2 * (hosts - 1); ++step) {
    for (NodeId host = 0; host < hosts; ++host) {
      Flow& flow = flows.emplace_back(flow_of(host, (host + 1) % hosts, part, traits));
      if (step > 0) flow.after = first + (step - 1) * hosts + (host + hosts - 1) % hosts;
    }
  }
}

void add_random_load(std::vector<Flow>& flows, const RandomLoad& load, std::uint64_t seed, const FlowTraits& traits) {
  std::mt19937_64 random{seed};
  const double flows_per_ns = load.load * static_cast<double>(load.rate_bps) / 8e9 / mean_of(load.sizes);
  std::vector<Flow> made;
  for (NodeId host = 0; host < load.hosts; ++host) {
    double at = 0;
    for (;;) {
      at += -std::log(1 - fraction(random)) / flows_per_ns;
      if (!(at < static_cast<double>(load.length.count()))) break;
      const NodeId other = below(random, load.hosts - 1);
      Flow flow = flow_of(host, other < host ? other : other + 1, size_of(load.sizes, fraction(random)), traits);
      flow.start += Duration{static_cast<Duration::rep>(at)};
      made.push_back(flow);
    }
  }
  std::ranges::stable_sort(made, {}, &Flow::start);
  flows.insert(flows.end(), made.begin(), made.end());
}

Result<void> check(std::span<const Flow> flows, const Topology& topology) {
  std::set<std::tuple<NodeId, NodeId, std::uint8_t, std::uint32_t, std::uint32_t>> endless;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows[i];
    for (const auto& [host, member] : {std::pair{flow.from, ".from"}, {flow.to, ".to"}}) {
      if (topology.is_host(host)) continue;
      return wrong(
          i, member,
          "there is no host " + std::to_string(host) + "; the last one is " + std::to_string(topology.hosts - 1));
    }
    if (flow.from == flow.to) return wrong(i, ".to", topology.names[flow.to] + " would send to itself");
    if (flow.bytes == 0) return wrong(i, ".size", "expected at least 1 byte, found 0");
    if (flow.priority > 7) return wrong(i, ".priority", "expected 0 to 7, found " + std::to_string(flow.priority));
    if (flow.mtu != 0 && !is_path_mtu(flow.mtu)) {
      return wrong(i, ".mtu", "expected 256, 512, 1024, 2048 or 4096, found " + std::to_string(flow.mtu));
    }
    if (flow.start < Duration{0}) return wrong(i, ".start", "it is negative");
    if (flow.after && *flow.after >= i) return wrong(i, ".after", "expected a flow of a lower number");
    if (flow.after && flows[*flow.after].bytes == kEndless) return wrong(i, ".after", "that flow never ends");
    const std::tuple key{flow.from, flow.to, flow.priority, flow.mtu, flow.connection};
    if (endless.contains(key)) {
      return wrong(i, ".connection", "it would wait for ever behind an endless flow of the same connection");
    }
    if (flow.bytes == kEndless) endless.insert(key);
  }
  return {};
}

}  // namespace roce::fabric
