// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_summary.h"

#include <algorithm>

namespace roce::gen {

namespace {

[[nodiscard]] double nanoseconds(Duration duration) {
  return static_cast<double>(duration.count());
}

/// The flows of a workload while they are added up.
struct Sum {
  WorkloadSummary result{};
  std::optional<Time> first{};
  Time last{};
  std::vector<double> times{};
  std::vector<double> slowdowns{};
  double rates = 0;
  double squares = 0;
  std::uint64_t count = 0;
};

void add(Sum& sum, const fabric::Fabric& fabric, std::uint32_t flow) {
  const fabric::FlowState state = fabric.flow_state(flow);
  ++sum.result.flows;
  sum.result.delivered += state.delivered;
  if (state.failed) ++sum.result.failed;
  if (!state.started) return;
  ++sum.result.started;
  if (!sum.first || *state.started < *sum.first) sum.first = state.started;
  const Time end = state.finished.value_or(fabric.now());
  sum.last = std::max(sum.last, end);
  if (state.finished) {
    ++sum.result.finished;
    const double took = nanoseconds(*state.finished - *state.started);
    sum.times.push_back(took);
    sum.slowdowns.push_back(took / nanoseconds(fabric.ideal_time(flow)));
  }
  if (end == *state.started) return;
  const double rate = static_cast<double>(state.delivered) / nanoseconds(end - *state.started);
  sum.rates += rate;
  sum.squares += rate * rate;
  ++sum.count;
}

[[nodiscard]] WorkloadSummary finish(Sum& sum) {
  WorkloadSummary& result = sum.result;
  if (result.finished == result.flows) result.last_finish = sum.last;
  if (sum.first && sum.last > *sum.first) {
    result.goodput_bps = static_cast<double>(result.delivered) * 8e9 / nanoseconds(sum.last - *sum.first);
  }
  if (sum.squares > 0) result.jain = sum.rates * sum.rates / (static_cast<double>(sum.count) * sum.squares);
  result.times = percentiles_of(std::move(sum.times));
  result.slowdowns = percentiles_of(std::move(sum.slowdowns));
  return result;
}

}  // namespace

Duration paused_time(const fabric::Fabric& fabric, fabric::PortId port) {
  Duration paused{};
  for (std::uint8_t priority = 0; priority < kPriorities; ++priority) paused += fabric.paused_time(port, priority);
  return paused;
}

std::optional<Percentiles> percentiles_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return Percentiles{at_share(values, 0.5), at_share(values, 0.95), at_share(values, 0.99), values.back()};
}

std::vector<WorkloadSummary> summarize_workloads(const fabric::Fabric& fabric, std::size_t workloads) {
  std::vector<Sum> sums(workloads);
  for (std::uint32_t i = 0; i < fabric.flows().size(); ++i) add(sums[fabric.flows()[i].group], fabric, i);
  std::vector<WorkloadSummary> results;
  results.reserve(workloads);
  for (Sum& sum : sums) results.push_back(finish(sum));
  return results;
}

NetworkSummary summarize_network(const fabric::Fabric& fabric) {
  NetworkSummary summary;
  for (fabric::NodeId host = 0; host < fabric.topology().hosts; ++host) {
    const transport::Counters counters = fabric.host_counters(host);
    summary.retransmitted += counters.retransmitted_packets;
    summary.timeouts += counters.timeouts;
    summary.cnps += counters.cnps_sent;
  }
  for (fabric::PortId port = 0; port < fabric.ports(); ++port) {
    Duration& paused = fabric.topology().is_host(fabric.node_of(port)) ? summary.host_paused : summary.switch_paused;
    paused += paused_time(fabric, port);
    if (fabric.counters(port).longest_queue <= summary.longest_queue) continue;
    summary.longest_queue = fabric.counters(port).longest_queue;
    summary.longest_queue_at = port;
  }
  return summary;
}

}  // namespace roce::gen
