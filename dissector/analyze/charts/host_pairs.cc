// SPDX-License-Identifier: BSD-2-Clause
// Which hosts send to which.
#include "analyze/charts/host_pairs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/run/stream_figures.h"

namespace roce::analyze {

std::vector<HostPair> host_pairs(const AnalysisResult& result, std::size_t most) {
  std::map<std::pair<Gid, Gid>, HostPair> pairs;
  for (const analysis::StreamSummary& stream : result.streams) {
    for (std::size_t i = 0; i < 2; ++i) {
      const analysis::DirectionSummary& direction = stream.directions[i];
      if (direction.packets == 0) continue;
      HostPair& pair = pairs[{stream.ends[i], stream.ends[1 - i]}];
      pair.from = stream.ends[i];
      pair.to = stream.ends[1 - i];
      ++pair.streams;
      pair.bytes += direction.bytes;
      pair.goodput += direction.goodput_bytes;
      pair.lost += stream.lost_packets;
      pair.resent += retransmissions(stream);
      pair.latency.merge(direction.latency);
    }
  }
  std::vector<HostPair> all;
  all.reserve(pairs.size());
  for (auto& [key, pair] : pairs) all.push_back(std::move(pair));
  std::stable_sort(all.begin(), all.end(), [](const HostPair& a, const HostPair& b) { return a.bytes > b.bytes; });
  all.resize(std::min(all.size(), most));
  return all;
}

}  // namespace roce::analyze
