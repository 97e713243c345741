// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/analysis/histogram.h"
#include "roce/wire/time.h"

namespace roce::analysis {

struct Observation;

/// True for a packet of a connection if it is data in the sense of `CongestionSummary`: neither an ACK nor a CNP.
[[nodiscard]] bool is_data(const Observation& packet);

/// Time over which the rates before and after a CNP are measured: 1.05 ms after it, and 0.98 to 1.05 ms before it.
inline constexpr Duration kReactionWindow{1 << 20};

/// Traffic of a sender around CNPs. If CNPs follow each other within `kReactionWindow`, only the first counts, and only
/// if data was seen in the window before it and the stream goes on in the capture after the window that follows it.
/// Bytes are those of data frames, including repeated ones.
struct CnpReaction {
  std::uint64_t cnps = 0;    ///< CNPs that count
  std::uint64_t slowed = 0;  ///< CNPs of these with a lower rate after than before
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  Duration time_before{};
  Duration time_after{};

  friend bool operator==(const CnpReaction&, const CnpReaction&) = default;
};

/// Congestion notification (RFC 3168; IBTA annex A17) about the data of one direction of a stream:
/// requests, and answers to READs and atomics. Marks on ACKs and CNPs do not count, nor do copies.
struct CongestionSummary {
  std::uint8_t direction = 0;  ///< direction of the data: 0 from `StreamSummary::ends[0]`
  std::uint64_t marks = 0;     ///< data packets with a CE mark, as seen at the capture point
  std::uint64_t cnps = 0;      ///< CNPs sent back to the sender of the data
  /// CNPs without a mark seen since the CNP before: marked after the capture point, or missed by the capture.
  /// Counts only CNPs that came when the data was known to belong to this stream.
  std::uint64_t cnps_without_mark = 0;
  std::uint64_t marks_since_cnp = 0;  ///< marks after the last CNP, or all if there was none
  Histogram mark_to_cnp;              ///< from the first mark since the CNP before to the CNP
  Histogram cnp_spacing;              ///< between one CNP and the next
  CnpReaction reaction;

  friend bool operator==(const CongestionSummary&, const CongestionSummary&) = default;
};

}  // namespace roce::analysis
