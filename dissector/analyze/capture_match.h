// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyze/clock_offset.h"
#include "analyze/seen_packet.h"

namespace roce::analyze {

inline constexpr std::uint32_t kNoPacket = std::numeric_limits<std::uint32_t>::max();

enum class MatchKind : std::uint8_t {
  none,     ///< the other capture does not have it
  same,     ///< `other` is the same packet
  damaged,  ///< so it is, but one of the two has a wrong ICRC
  copy,     ///< the other capture has fewer of these packets: `other` is the one in this capture that it repeats
};

struct PacketMatch {
  std::uint32_t other = kNoPacket;
  MatchKind kind = MatchKind::none;
};

/// Which packets of two captures are the same. Indices are those of the packets that were matched.
struct CaptureMatch {
  std::vector<PacketMatch> a;
  std::vector<PacketMatch> b;
  DifferenceTrend trend;
  bool by_icrc = true;  ///< false: too many ICRCs were cut off, so packets of the same PSN are told apart by IP ID only

  /// One sample a packet that both have and that is sound at both, in the order of A.
  [[nodiscard]] std::vector<DelaySample> samples(std::span<const SeenPacket> a_packets,
                                                 std::span<const SeenPacket> b_packets, const FlowTable& flows) const;
};

/// Finds the packets of A in B. Two are the same if everything is that no router changes: addresses, destination QP,
/// opcode, PSN, ICRC. Of several that are the same in all this, retransmissions, those belong together whose times
/// differ by what is usual, within `within_ns`; what is left over is a copy where the IP ID or the time says so. A
/// damaged packet is found by the fields that were not hit. Numbers in proportion to packets, times the logarithm.
[[nodiscard]] CaptureMatch match_captures(std::span<const SeenPacket> a, std::span<const SeenPacket> b,
                                          const FlowTable& flows, std::int64_t within_ns);

}  // namespace roce::analyze
