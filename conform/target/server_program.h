// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conform/target/cm_connection.h"
#include "conform/target/target.h"
#include "conform/target/tcp_talk.h"
#include "roce/live/result.h"
#include "roce/wire/opcode.h"

namespace roce::conform {

/// Programs that a device can be tested through without an agent beside it.
enum class ServerKind : std::uint8_t { pingpong, perftest, rdma_cm };

/// The properties of a program, as it is without options.
struct ServerProgram {
  ServerKind kind{};
  std::string_view name;
  std::uint16_t port = 0;  ///< TCP, or of the TCP port space of RDMA CM
  transport::QpType type{};
  std::uint64_t message_bytes = 0;  ///< of its receives, and of its memory
  bool takes_sends = false;
  bool takes_writes = false;
  bool answers = false;  ///< each message that was delivered is followed by one of its own
  QKey q_key{};          ///< of a UD QP
};

/// Returns the names of all programs.
[[nodiscard]] std::vector<std::string_view> server_program_names();
/// Returns the program of a name; null if there is none.
[[nodiscard]] const ServerProgram* find_server_program(std::string_view name);

/// The QP of a server, as it told.
struct ServerQp {
  Qpn qpn{};
  Psn first{};                     ///< PSN of its first request
  std::uint32_t path_mtu = 0;      ///< bytes
  std::optional<Region> memory{};  ///< for WRITEs
  std::optional<Psn> expected{};   ///< PSN of the tester's first request, if the server chose it
};

/// The tester's QP, as the server is told.
struct OwnQp {
  Qpn qpn{};
  Psn first{};  ///< PSN of the tester's first request
};

/// A server that knows the tester's QP.
struct ServerSession {
  ServerQp qp{};
  std::optional<TcpTalk> talk{};               ///< while it lasts, so does the QP
  std::unique_ptr<CmConnection> connection{};  ///< by RDMA CM
};

/// Connects the tester's QP with that of a server by RDMA CM. Failures: those of `CmConnection::open`.
[[nodiscard]] live::Result<ServerSession> connect(Wire& wire, const CmServer& server, const OwnQp& own);
/// Tells a server on TCP the tester's QP and learns its own. Failures: those of `TcpTalk`, a server that speaks another
/// protocol, one whose RoCE address is not `port.device_gid`.
[[nodiscard]] live::Result<ServerSession> introduce(const ServerProgram& program, TcpTalk talk, const Port& port,
                                                    const OwnQp& own);

}  // namespace roce::conform
