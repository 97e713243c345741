// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gen/control_client.h"
#include "gen/endpoint.h"
#include "gen/rdma_cm.h"
#include "gen/tcp.h"
#include "replay/control_end.h"
#include "replay/local_end.h"

// The ways in which our end of a conversation finds its live peer. Each brings the queue pair from INIT to RTS.
namespace roce::replay {

/// Where the other queue pair is.
struct RemoteQueuePair {
  Gid gid{};
  Qpn qpn{};
  Psn psn{};  ///< the first that it sends
};

/// Connects our end with what is known of the other. `path_mtu` is in bytes. Failure: what the verbs refuse.
[[nodiscard]] Outcome<void> connect_to(gen::Endpoint& endpoint, LocalEnd& own, const RemoteQueuePair& remote,
                                       std::uint32_t path_mtu);

/// Reads a line `QPN PSN` from standard input, each decimal or hexadecimal with 0x: the queue pair at `gid` that
/// whoever runs us has there. Waits until it comes, which a signal ends. Failure: no such line.
[[nodiscard]] Outcome<RemoteQueuePair> read_queue_pair(gen::Endpoint& endpoint, const Gid& gid);

/// Connects our end and one that a roce-gen peer is for us.
[[nodiscard]] Outcome<void> connect_by_control(gen::Endpoint& endpoint, gen::ControlClient& peer, LocalEnd& own,
                                               const ControlEnd& remote, std::uint32_t path_mtu);

/// Tells a program of the `ibv_rc_pingpong` kind our queue pair over TCP, and connects to its own. Failure: nobody
/// there in 10 s, or another program.
[[nodiscard]] Outcome<void> connect_by_pingpong(gen::Endpoint& endpoint, LocalEnd& own, const std::string& host,
                                                std::uint16_t port, std::uint32_t path_mtu);
/// The same as its server: waits until somebody connects, which a signal ends.
[[nodiscard]] Outcome<void> accept_by_pingpong(gen::Endpoint& endpoint, LocalEnd& own, gen::Tcp& listener,
                                               std::uint32_t path_mtu);

/// Connects to RDMA port `port` of `host`. The connection ends with `connection`.
[[nodiscard]] Outcome<void> connect_by_cm(gen::RdmaCm& cm, gen::CmConnection& connection, LocalEnd& own,
                                          const std::string& host, std::uint16_t port, std::uint32_t path_mtu);
/// Waits until somebody connects to RDMA port `port`, which a signal ends.
[[nodiscard]] Outcome<std::unique_ptr<gen::CmConnection>> accept_by_cm(gen::RdmaCm& cm, LocalEnd& own,
                                                                       std::uint16_t port);

/// Ends a connection, or sees the peer end it within `patience`.
[[nodiscard]] Outcome<void> end_by_cm(gen::RdmaCm& cm, gen::CmConnection& connection, Duration patience);

}  // namespace roce::replay
