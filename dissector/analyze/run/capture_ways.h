// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "analyze/run/summary_statements.h"

namespace roce::analyze {

/// Which capture points of a part have packets from one host to another.
class CaptureWays {
 public:
  explicit CaptureWays(const JudgedPart& part);

  /// True if silence from one host to another means something: the capture has what else it sends, and nothing that may
  /// be the other half of a connection.
  [[nodiscard]] bool show_silence(std::uint16_t point, const Gid& from, const Gid& to) const;
  /// True if a host has answered a request of another one.
  [[nodiscard]] bool has_answers(std::uint16_t point, const Gid& from, const Gid& to) const;

 private:
  using Way = std::tuple<std::uint16_t, Gid, Gid>;
  std::set<Way> all_;
  std::set<Way> of_halves_;  ///< of connections of which only one direction is known
  std::set<Way> of_answers_;
};

/// Returns the packets of a direction that answer requests of the other one. A CNP answers none: marks
/// bring it, whatever became of the request.
[[nodiscard]] std::uint64_t answer_packets(const analysis::DirectionSummary& direction);

}  // namespace roce::analyze
