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

/// What tells one direction of a connection from all others.
struct FlowKey {
  Gid source{};
  Gid destination{};
  std::uint64_t domain = 0;
  std::uint32_t qpn = 0;  ///< destination QPN; of datagrams the source QPN is above it

  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

[[nodiscard]] std::uint64_t hash_of(const FlowKey& key);

struct Stream;

/// The CNP before, and when the next one is due.
struct LatestCnp {
  std::uint16_t ip_id = 0;
  PacketId packet{};  ///< none: there was none
  Time time{};
  Time due{};
};

/// One direction of a connection: what goes to one QP from one address.
struct Flow {
  FlowKey key{};
  Stream* stream = nullptr;
  std::uint8_t direction = 0;
  bool has_ip_id = false;
  bool ip_id_varies = false;    ///< so that two packets with the same ICRC are one packet, not a repetition
  bool ip_id_restarts = false;  ///< so that they say nothing of the order
  std::uint16_t last_ip_id = 0;
  std::uint16_t udp_source_port = 0;
  std::uint32_t packets = 0;  ///< lately, for the share of copies
  std::uint32_t copies = 0;
  Lazy<LatestCnp> cnp;
};

/// A connection, or one direction of one while the other is unknown.
struct Stream {
  std::uint32_t index = 0;
  std::array<Flow*, 2> flows{};                     ///< [1] is absent until it is known
  std::array<Lazy<Channel>, 2> channels;            ///< [d]: requests go in direction d
  std::array<Lazy<CongestionState>, 2> congestion;  ///< [d]: of the data in direction d
  std::uint16_t path_mtu = 0;
  bool is_connected = false;  ///< of a service with a peer QP: RC, UC, XRC
  Time last_time{};
  StreamSummary summary;
  // The list of all streams, the one that was silent longest first.
  Stream* older = nullptr;
  Stream* newer = nullptr;
};

}  // namespace roce::analysis
