// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyze/join/clock_offset.h"
#include "analyze/join/seen_packet.h"

namespace roce::analyze {

inline constexpr std::uint32_t kNoPacket = std::numeric_limits<std::uint32_t>::max();

enum class MatchKind : std::uint8_t {
  none,     ///< the other capture does not have the packet
  same,     ///< `other` is the same packet in the other capture
  damaged,  ///< as `same`, but one of the two has a wrong ICRC
  copy,     ///< the other capture has fewer of these: `other` is the packet of this capture that this one repeats
};

struct PacketMatch {
  std::uint32_t other = kNoPacket;
  MatchKind kind = MatchKind::none;
  bool is_one_of_many = false;  ///< `other` may be another packet with the same bits
};

/// The packets that two captures have in common. Indices are those of the packets given to `match_captures`.
struct CaptureMatch {
  std::vector<PacketMatch> a;
  std::vector<PacketMatch> b;
  DifferenceTrend trend;
  bool by_icrc = true;  ///< false: too many ICRCs were cut off, so only the IP ID tells packets with the same PSN apart

  /// Returns one sample for each packet that both captures have and that is undamaged in both, in the order of A.
  [[nodiscard]] std::vector<DelaySample> samples(std::span<const SeenPacket> a_packets,
                                                 std::span<const SeenPacket> b_packets, const FlowTable& flows) const;
};

/// Finds the packets of A in B. Two packets are the same if all fields agree that routers do not change: addresses,
/// destination QP, opcode, PSN, ICRC. Retransmissions agree in all of these; they are paired where the difference of
/// times is nearest to the usual one and within `within_ns`, and the rest are copies if IP ID or time indicate it. CNPs
/// of one connection are all the same: they are paired in order, as many as the variation of the delays allows. A
/// damaged packet is found by its undamaged fields. Memory is linear in the number of packets, time n log n.
[[nodiscard]] CaptureMatch match_captures(std::span<const SeenPacket> a, std::span<const SeenPacket> b,
                                          const FlowTable& flows, std::int64_t within_ns);

}  // namespace roce::analyze
