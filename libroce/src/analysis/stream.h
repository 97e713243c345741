// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analysis/channel.h"
#include "analysis/congestion_state.h"
#include "roce/analysis/lazy.h"
#include "roce/analysis/stream_summary.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// Distinguishes one direction of a connection from all others.
struct FlowKey {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  std::uint32_t qpn = 0;    ///< destination QPN; for datagrams, `domain` also holds the source QPN
  std::uint16_t point = 0;  ///< capture point: each point has flows of its own

  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

[[nodiscard]] std::uint64_t hash_of(const FlowKey& key);

struct Stream;

/// The latest CNP of a flow, and when the next one may come.
struct LatestCnp {
  std::uint16_t ip_id = 0;
  PacketId packet{};  ///< not set if there was none
  Time time{};
  Time due{};
};

/// One direction of a connection: the packets from one address to one QP.
struct Flow {
  FlowKey key{};
  Stream* stream = nullptr;
  std::uint8_t direction = 0;
  bool has_ip_id = false;
  bool ip_id_varies = false;      ///< the identifications differ, so equal ICRCs mean copies, not retransmissions
  bool ip_id_restarts = false;    ///< they begin again with each super-frame and do not show the order of sending
  bool has_super_frames = false;  ///< frames with several packets are among it
  std::uint8_t searches = 0;  ///< how often the requests that its responses answer were looked for in vain, up to 255
  std::uint16_t last_ip_id = 0;
  std::uint16_t udp_source_port = 0;
  std::uint32_t packets = 0;  ///< its requests and responses so far, to get the share of copies
  std::uint32_t copies = 0;
  Lazy<LatestCnp> cnp;
};

/// A connection, or one direction of a connection while the other is unknown.
struct Stream {
  std::uint32_t index = 0;
  Psn newest_datagram{};                            ///< if `has_datagram`
  std::array<Flow*, 2> flows{};                     ///< [1] is null until it is known
  std::array<Lazy<Channel>, 2> channels;            ///< [d] has the requests that go in direction d
  std::array<Lazy<CongestionState>, 2> congestion;  ///< [d] is that of the data in direction d
  std::uint16_t path_mtu = 0;
  bool is_connected = false;  ///< its service has a peer QP: RC, UC, XRC
  bool has_datagram = false;  ///< `newest_datagram` is set
  Time last_time{};
  StreamSummary summary;
  // The list of all streams, ordered by latest packet; the one that has been silent longest is the oldest.
  Stream* older = nullptr;
  Stream* newer = nullptr;
};

}  // namespace roce::analysis
