// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/paths.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace roce::analysis {

namespace {

constexpr unsigned kDscpShift = 2;
constexpr unsigned kTrials = 1000;
constexpr Qpn kGsi{1};

[[nodiscard]] PathTraffic traffic_of(const Observation& packet) {
  const OpcodeInfo& info = packet.info();
  if (info.operation == Operation::cnp) return PathTraffic::cnp;
  if (info.operation == Operation::acknowledge || info.operation == Operation::atomic_acknowledge) {
    return PathTraffic::answers;
  }
  return packet.dest_qp == kGsi ? PathTraffic::management : PathTraffic::data;
}

void mark(PathMarks& marks, const Observation& packet) {
  ++marks.dscp[packet.traffic_class >> kDscpShift];
  if (packet.link_priority != Observation::kNoPriority) ++marks.priorities[packet.link_priority];
  if ((packet.traffic_class & 3U) != 0) ++marks.ecn_capable;
}

/// A number that has nothing visible in common with the one for the next `value` (splitmix64).
[[nodiscard]] std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9E37'79B9'7F4A'7C15;
  value = (value ^ (value >> 30U)) * 0xBF58'476D'1CE4'E5B9;
  value = (value ^ (value >> 27U)) * 0x94D0'49BB'1331'11EB;
  return value ^ (value >> 31U);
}

}  // namespace

std::uint64_t PathMarks::packets() const {
  return std::accumulate(dscp.begin(), dscp.end(), std::uint64_t{0});
}

std::uint8_t PathMarks::usual_dscp() const {
  return static_cast<std::uint8_t>(std::max_element(dscp.begin(), dscp.end()) - dscp.begin());
}

const PathSurvey::Found* PathSurvey::find(const Observation& packet) {
  const Flow flow{packet.udp_source_port, packet.dest_qp};
  Found& recent = recent_[packet.dest_qp.value() % kRecent];
  if (recent.path != nullptr && recent.flow == flow &&
      recent.hosts == std::tie(packet.point, packet.version, packet.source, packet.destination)) {
    return &recent;
  }
  const Hosts hosts{packet.point, packet.version, packet.source, packet.destination};
  auto path = paths_.find(hosts);
  const bool is_known = path != paths_.end() && path->second.flows.contains(flow);
  if (!is_known && flows_ == most_flows_) return nullptr;
  if (!is_known) ++flows_;
  if (path == paths_.end()) path = paths_.emplace(hosts, Path{}).first;
  recent = {hosts, flow, &path->second, &path->second.flows[flow]};
  return &recent;
}

void PathSurvey::observe(const Observation& packet) {
  if (packet.kind != PacketKind::roce || packet.icrc_bad) return;
  const Found* const found = find(packet);
  if (found == nullptr) {
    ++uncounted_;
    return;
  }
  const PathTraffic traffic = traffic_of(packet);
  ++found->count->packets;
  found->count->bytes += packet.wire_length;
  found->count->has_data = found->count->has_data || traffic == PathTraffic::data;
  mark(found->path->marks[static_cast<std::size_t>(traffic)], packet);
}

std::vector<PathSummary> PathSurvey::summaries() const {
  std::vector<PathSummary> all;
  all.reserve(paths_.size());
  for (const auto& [hosts, path] : paths_) {
    PathSummary summary;
    std::tie(summary.point, summary.version, summary.source, summary.destination) = hosts;
    summary.marks = path.marks;
    std::set<Qpn> queue_pairs;
    for (const auto& [flow, count] : path.flows) {
      const auto [port, queue_pair] = flow;
      summary.packets += count.packets;
      summary.bytes += count.bytes;
      if (!count.has_data) continue;
      queue_pairs.insert(queue_pair);
      if (summary.version == RoceVersion::v1) continue;
      // The flows of one port follow each other.
      if (summary.ports.empty() || summary.ports.back().port != port) summary.ports.push_back({.port = port});
      summary.ports.back().packets += count.packets;
      summary.ports.back().bytes += count.bytes;
    }
    summary.queue_pairs = queue_pairs.size();
    std::ranges::stable_sort(summary.ports, std::ranges::greater{}, &PathPort::bytes);
    all.push_back(std::move(summary));
  }
  return all;
}

double expected_fullest_share(std::span<const std::uint64_t> weights, unsigned links) {
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  if (all == 0 || links == 0) return 0;
  std::vector<std::uint64_t> loads(links);
  std::uint64_t number = 0;
  double sum = 0;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    std::ranges::fill(loads, 0);
    for (const std::uint64_t weight : weights) loads[scrambled(number++) % links] += weight;
    sum += static_cast<double>(*std::ranges::max_element(loads)) / static_cast<double>(all);
  }
  return sum / kTrials;
}

}  // namespace roce::analysis
