// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "roce/analysis/verdict.h"

namespace roce::analyze {

/// Lost packets by the side of the capture point on which they were lost.
struct LossPlaces {
  std::uint64_t before = 0;   ///< between the sender and the capture point
  std::uint64_t after = 0;    ///< between the capture point and the receiver
  std::uint64_t beyond = 0;   ///< on the responder's side: the request, or its answer on the way back
  std::uint64_t damaged = 0;  ///< part of `before`: seen here with a wrong ICRC

  LossPlaces& operator+=(const LossPlaces& other);

  [[nodiscard]] std::uint64_t total() const { return before + after + beyond; }
};

/// The number of verdicts, and of the packets that they are about; when they were, by the times of those packets.
struct VerdictCount {
  std::uint64_t verdicts = 0;
  std::uint64_t packets = 0;      ///< packets that the verdicts are about
  std::uint64_t first_frame = 0;  ///< frame of the earliest verdict, across all files; 0: there are no verdicts
  std::int64_t first_ns = 0;      ///< since 1970
  std::int64_t last_ns = 0;       ///< of the latest

  VerdictCount& operator+=(const VerdictCount& other);
};

/// Returns the number of packets that a verdict is about. One that reports a loss counts what was lost on the wire
/// once, so that a READ request is one packet; other PSNs that were not seen are taken for a packet each.
[[nodiscard]] std::uint64_t packets_of(const analysis::Verdict& verdict);

/// Connection management messages that were sent again.
struct CmRepetitions {
  std::map<std::uint16_t, std::uint64_t> by_message;  ///< by attribute identifier
  std::int64_t slowest_setup_ns = 0;  ///< longest time from a REQ to the RTU, of connections with repeated messages

  CmRepetitions& operator+=(const CmRepetitions& other);
};

/// Verdicts by kind and by rule; losses by place; repeated CM messages.
struct VerdictTotals {
  std::array<VerdictCount, static_cast<std::size_t>(analysis::VerdictKind::count)> kinds{};
  std::array<std::uint64_t, static_cast<std::size_t>(analysis::Rule::count)> rules{};
  LossPlaces losses;
  CmRepetitions cm;

  /// Adds a verdict; returns the place of the packets whose loss it reports, or null.
  std::uint64_t LossPlaces::*add(const analysis::Verdict& verdict);
  VerdictTotals& operator+=(const VerdictTotals& other);

  [[nodiscard]] std::uint64_t all() const;  ///< number of all verdicts
  [[nodiscard]] const VerdictCount& of(analysis::VerdictKind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::uint64_t of(analysis::Rule rule) const { return rules[static_cast<std::size_t>(rule)]; }
};

/// The same, and losses by stream.
struct VerdictCounts : VerdictTotals {
  std::map<std::uint32_t, LossPlaces> losses_of_stream;  ///< only streams with losses

  void add(const analysis::Verdict& verdict);
  VerdictCounts& operator+=(const VerdictCounts& other);
  [[nodiscard]] LossPlaces lost_of(std::uint32_t stream) const;
};

}  // namespace roce::analyze
