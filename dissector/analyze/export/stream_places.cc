// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/stream_places.h"

namespace roce::analyze {

void StreamPlaces::learn(const AnalysedPacket& packet) {
  const analysis::PacketAnalysis& known = packet.analysis;
  const analysis::Observation& seen = packet.observation;
  if (known.stream == analysis::kNoStream) return;
  StreamPlace& place = of(known.stream);
  if (known.absorbed != analysis::kNoStream) place.absorbed = known.absorbed;
  StreamPlace::Direction& direction = place.directions[known.direction];
  if (direction.udp_source_port || known.role == analysis::PacketRole::cnp) return;
  place.point = seen.point;
  place.ends[known.direction] = seen.source;
  place.ends[1 - known.direction] = seen.destination;
  direction.dest_qp = seen.dest_qp.value();
  direction.udp_source_port = seen.udp_source_port;
  direction.dscp = static_cast<std::uint8_t>(seen.traffic_class >> 2U);
  if (packet.decoded.whole.vlan_tci()) direction.pcp = seen.priority;
}

void StreamPlaces::learn(const analysis::StreamSummary& stream) {
  StreamPlace& place = of(stream.stream);
  place.ends = stream.ends;
  place.point = stream.point;
  for (std::size_t i = 0; i < 2; ++i) {
    if (stream.qpns[1 - i]) place.directions[i].dest_qp = stream.qpns[1 - i]->value();
  }
}

const StreamPlace& StreamPlaces::find(std::uint32_t stream) const {
  static const StreamPlace kUnknown;
  return stream < streams_.size() ? streams_[stream] : kUnknown;
}

StreamPlace& StreamPlaces::of(std::uint32_t stream) {
  if (stream >= streams_.size()) streams_.resize(stream + std::size_t{1});
  return streams_[stream];
}

}  // namespace roce::analyze
