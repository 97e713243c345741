// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roce/fabric/error.h"
#include "roce/fabric/topology.h"
#include "roce/wire/time.h"

namespace roce::fabric {

/// A flow without an end.
inline constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

/// One transfer: WRITEs of at most 1 MiB, each with an immediate by which the receiver learns of it.
/// Flows of the same hosts, priority, MTU and connection share a queue pair, and go one after the other.
struct Flow {
  NodeId from = 0;
  NodeId to = 0;
  std::uint64_t bytes = 0;               ///< at least 1, or `kEndless`
  Duration start{0};                     ///< earliest begin
  std::optional<std::uint32_t> after{};  ///< it begins no earlier than this flow, of a lower number, has arrived
  std::uint8_t priority = 3;
  std::uint32_t mtu = 0;         ///< 0: that of the hosts
  std::uint32_t connection = 0;  ///< tells queue pairs apart
  std::uint32_t group = 0;       ///< of any meaning to the caller
};

/// The properties that the flows of a workload have in common.
struct FlowTraits {
  Duration start{0};
  std::uint8_t priority = 3;
  std::uint32_t mtu = 0;
  std::uint32_t group = 0;
};

/// Sizes with the shares of flows that are at most as large: rising, the last share is 1. Between two points sizes are
/// spread evenly, from 0 bytes below the first.
using SizeDistribution = std::vector<std::pair<std::uint64_t, double>>;
/// Returns the mean of a distribution, in bytes.
[[nodiscard]] double mean_of(const SizeDistribution& sizes);

/// Appends one flow to `to` from each of `senders`.
void add_incast(std::vector<Flow>& flows, std::span<const NodeId> senders, NodeId to, std::uint64_t bytes,
                const FlowTraits& traits);
/// Appends a flow from each of the first `hosts` hosts, each to another one, chosen by `seed`.
void add_permutation(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, std::uint64_t seed,
                     const FlowTraits& traits);
/// Appends a flow from each of the first `hosts` hosts to each other one, in an order in which no two hosts begin with
/// the same one.
void add_all_to_all(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, const FlowTraits& traits);
/// Appends the 2(n−1) steps of a ring all-reduce of `bytes` bytes over the first n = `hosts` hosts: in each step each
/// host passes a part of bytes / n on, once the part of the step before has come.
void add_ring_all_reduce(std::vector<Flow>& flows, std::uint32_t hosts, std::uint64_t bytes, const FlowTraits& traits);

/// Random load: flows of random sizes between random hosts, which begin as a Poisson process does.
struct RandomLoad {
  std::uint32_t hosts = 0;                         ///< the first hosts take part
  double load = 0.5;                               ///< share of `rate_bps` that each host offers, in payload
  std::uint64_t rate_bps = 25'000'000'000;         ///< of a host's link
  Duration length = std::chrono::milliseconds{1};  ///< flows begin for so long
  SizeDistribution sizes{{100'000, 1.0}};
};
void add_random_load(std::vector<Flow>& flows, const RandomLoad& load, std::uint64_t seed, const FlowTraits& traits);

/// Checks flows against a topology. The places of errors are like `flows[3].to`.
[[nodiscard]] Result<void> check(std::span<const Flow> flows, const Topology& topology);

}  // namespace roce::fabric
