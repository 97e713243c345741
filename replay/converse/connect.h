// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "replay/converse/control_end.h"
#include "replay/converse/local_end.h"
#include "roce/live/control_client.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/tcp.h"

// The ways in which our end of a conversation finds its live peer. Each brings the queue pair from INIT to RTS.
namespace roce::replay {

/// Address and numbers of the peer's queue pair.
struct RemoteQueuePair {
  Gid gid{};
  Qpn qpn{};
  Psn psn{};  ///< first PSN that it sends
};

/// Connects our end to `remote`. `path_mtu` is in bytes. Failure: the verbs refuse something.
[[nodiscard]] Outcome<void> connect_to(live::Endpoint& endpoint, LocalEnd& own, const RemoteQueuePair& remote,
                                       std::uint32_t path_mtu);

/// Reads a line `QPN PSN` from standard input, each decimal or hexadecimal with 0x: the peer's queue pair at `gid`.
/// Waits until the line comes; a signal ends the wait. Failure: no line of this form.
[[nodiscard]] Outcome<RemoteQueuePair> read_queue_pair(live::Endpoint& endpoint, const Gid& gid);

/// Connects our end and the one that a roce-gen peer plays for us.
[[nodiscard]] Outcome<void> connect_by_control(live::Endpoint& endpoint, live::ControlClient& peer, LocalEnd& own,
                                               const ControlEnd& remote, std::uint32_t path_mtu);

/// Sends our queue pair over TCP to a program of the `ibv_rc_pingpong` kind, and connects to the queue pair that it
/// answers with. Failure: no answer in 10 s, or another kind of program.
[[nodiscard]] Outcome<void> connect_by_pingpong(live::Endpoint& endpoint, LocalEnd& own, const std::string& host,
                                                std::uint16_t port, std::uint32_t path_mtu);
/// Does the same as the server: waits until somebody connects; a signal ends the wait.
[[nodiscard]] Outcome<void> accept_by_pingpong(live::Endpoint& endpoint, LocalEnd& own, live::Tcp& listener,
                                               std::uint32_t path_mtu);

/// Connects to RDMA port `port` of `host`. The RDMA connection ends with `connection`.
[[nodiscard]] Outcome<void> connect_by_cm(live::RdmaCm& cm, live::CmConnection& connection, LocalEnd& own,
                                          const std::string& host, std::uint16_t port, std::uint32_t path_mtu);
/// Waits until somebody connects to RDMA port `port`; a signal ends the wait.
[[nodiscard]] Outcome<std::unique_ptr<live::CmConnection>> accept_by_cm(live::RdmaCm& cm, LocalEnd& own,
                                                                        std::uint16_t port);

/// Waits up to `patience` for the peer to end a connection, then ends it.
[[nodiscard]] Outcome<void> end_by_cm(live::RdmaCm& cm, live::CmConnection& connection, Duration patience);

}  // namespace roce::replay
