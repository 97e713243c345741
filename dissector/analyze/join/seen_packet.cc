// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/join/seen_packet.h"

#include <algorithm>

namespace roce::analyze {

std::uint32_t FlowTable::number(const Gid& source, const Gid& destination, Qpn dest_qp) {
  if (last_ < flows_.size()) {
    const SeenFlow& last = flows_[last_];
    if (last.source == source && last.destination == destination && last.dest_qp == dest_qp) return last_;
  }
  const auto [flow, is_new] =
      flow_numbers_.try_emplace({source, destination, dest_qp}, static_cast<std::uint32_t>(flows_.size()));
  last_ = flow->second;
  if (!is_new) return last_;
  const auto [leg, is_new_leg] =
      leg_numbers_.try_emplace({source, destination}, static_cast<std::uint32_t>(legs_.size()));
  if (is_new_leg) {
    legs_.push_back({source, destination, kNoLeg});
    const auto reverse = leg_numbers_.find({destination, source});
    if (reverse != leg_numbers_.end() && reverse->second != leg->second) {
      legs_.back().reverse = reverse->second;
      legs_[reverse->second].reverse = leg->second;
    }
  }
  flows_.push_back({source, destination, dest_qp, leg->second});
  return last_;
}

SeenPacket see_packet(const analysis::Observation& observation, std::uint32_t flow) {
  SeenPacket seen;
  seen.time_ns = std::clamp<std::int64_t>(observation.time.time_since_epoch().count(), 0, kLatestSeen);
  seen.frame = observation.id.frame;
  seen.segment = observation.id.segment;
  seen.flow = flow;
  seen.psn = observation.psn.value();
  seen.icrc = observation.has_icrc ? observation.icrc : 0;
  seen.payload_length = observation.payload_length;
  seen.domain = static_cast<std::uint32_t>(observation.domain ^ observation.domain >> 32U);
  seen.ip_id = observation.has_ip_id ? observation.ip_id : std::uint16_t{0};
  seen.udp_source_port = observation.udp_source_port;
  seen.opcode = static_cast<std::uint8_t>(observation.opcode);
  seen.traffic_class = observation.traffic_class;
  seen.hop_limit = observation.hop_limit;
  seen.priority = observation.priority;
  seen.has_icrc = observation.has_icrc;
  seen.is_bad = observation.icrc_bad;
  return seen;
}

}  // namespace roce::analyze
