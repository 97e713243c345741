// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/capture_ways.h"

#include <algorithm>

namespace roce::analyze {

CaptureWays::CaptureWays(const JudgedPart& part) {
  for (const analysis::StreamSummary& stream : part.streams) {
    const bool is_half = stream.service == Service::rc && !(stream.directions[0].seen && stream.directions[1].seen);
    for (std::size_t i = 0; i < 2; ++i) {
      if (!stream.directions[i].seen) continue;
      const Way way{stream.point, stream.ends[i], stream.ends[1 - i]};
      (is_half ? of_halves_ : all_).insert(way);
      if (stream.service == Service::rc && answer_packets(stream.directions[i]) != 0) of_answers_.insert(way);
    }
  }
}

bool CaptureWays::show_silence(std::uint16_t point, const Gid& from, const Gid& to) const {
  const Way way{point, from, to};
  return all_.contains(way) && !of_halves_.contains(way);
}

bool CaptureWays::has_answers(std::uint16_t point, const Gid& from, const Gid& to) const {
  return of_answers_.contains({point, from, to});
}

std::uint64_t answer_packets(const analysis::DirectionSummary& direction) {
  return direction.packets - std::min(direction.packets, direction.request_packets + direction.cnps);
}

}  // namespace roce::analyze
