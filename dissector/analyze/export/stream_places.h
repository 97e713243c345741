// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/run/analysis_run.h"
#include "roce/analysis/stream_summary.h"

namespace roce::analyze {

/// Where the packets of a stream come from and go to, by direction.
struct StreamPlace {
  struct Direction {
    std::optional<std::uint32_t> dest_qp;
    std::optional<std::uint16_t> udp_source_port;  ///< of the first packet; so are the next two
    std::optional<std::uint8_t> dscp;
    std::optional<std::uint8_t> pcp;
  };

  std::array<Gid, 2> ends{};  ///< sender and receiver of direction 0
  std::array<Direction, 2> directions{};
  std::uint16_t point = 0;
  /// The stream that proved to be direction 1 of this one: rows before that have its number.
  std::uint32_t absorbed = analysis::kNoStream;
};

/// The places of streams, learnt from packets while the analysis runs.
class StreamPlaces {
 public:
  void learn(const AnalysedPacket& packet);
  /// Learns those of a stream that began in an earlier run.
  void learn(const analysis::StreamSummary& stream);

  /// Returns a place without addresses if the stream is unknown.
  [[nodiscard]] const StreamPlace& find(std::uint32_t stream) const;

 private:
  [[nodiscard]] StreamPlace& of(std::uint32_t stream);

  std::vector<StreamPlace> streams_;
};

}  // namespace roce::analyze
