// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/tracker.h"

namespace roce::analyze {

inline constexpr std::uint32_t kNoLeg = 0xFFFF'FFFF;
/// The latest time that is kept, in ns (the year 2112): sums and differences of such times do not overflow.
inline constexpr std::int64_t kLatestSeen = 4'500'000'000'000'000'000;

/// The facts about a RoCE packet that `join` keeps.
struct SeenPacket {
  std::int64_t time_ns = 0;  ///< by the capture's clock, since 1970; clamped to between 0 and `kLatestSeen`
  std::uint64_t frame = 0;   ///< overall number, as in `analysis::PacketId`
  std::uint32_t segment = 0;
  std::uint32_t flow = 0;  ///< index in the `FlowTable`
  std::uint32_t psn = 0;
  std::uint32_t icrc = 0;  ///< as on the wire; only with `has_icrc`
  std::uint32_t payload_length = 0;
  std::uint32_t domain = 0;  ///< a hash that tells VLANs and tunnels apart
  std::uint16_t ip_id = 0;   ///< 0 if it is not used
  std::uint16_t udp_source_port = 0;
  std::uint8_t opcode = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t priority = 0;
  bool has_icrc = false;
  bool is_bad = false;  ///< the ICRC was checked and is wrong

  [[nodiscard]] bool is_ce() const { return (traffic_class & 3U) == 3; }
};
static_assert(sizeof(SeenPacket) <= 64, "two long captures are held in memory");

/// The packets from one address to one QP of another.
struct SeenFlow {
  Gid source{};
  Gid destination{};
  Qpn dest_qp{};
  std::uint32_t leg = 0;                         ///< index of the ordered pair of hosts
  std::uint32_t stream = analysis::kNoStream;    ///< its first stream in capture A
  std::uint32_t stream_b = analysis::kNoStream;  ///< its first stream in capture B
};

/// The packets from one host to another.
struct Leg {
  Gid source{};
  Gid destination{};
  std::uint32_t reverse = kNoLeg;  ///< the leg in the opposite direction, if it was seen
};

/// The flows of two captures, with numbers common to both.
class FlowTable {
 public:
  /// Returns the number of a flow, new or known.
  std::uint32_t number(const Gid& source, const Gid& destination, Qpn dest_qp);

  [[nodiscard]] const std::vector<SeenFlow>& flows() const { return flows_; }
  [[nodiscard]] SeenFlow& flow(std::uint32_t number) { return flows_[number]; }
  [[nodiscard]] const std::vector<Leg>& legs() const { return legs_; }

 private:
  std::vector<SeenFlow> flows_;
  std::vector<Leg> legs_;
  std::map<std::tuple<Gid, Gid, Qpn>, std::uint32_t> flow_numbers_;
  std::map<std::tuple<Gid, Gid>, std::uint32_t> leg_numbers_;
  std::uint32_t last_ = 0;
};

/// Returns what is kept of `observation`, which belongs to flow number `flow`.
[[nodiscard]] SeenPacket see_packet(const analysis::Observation& observation, std::uint32_t flow);

}  // namespace roce::analyze
