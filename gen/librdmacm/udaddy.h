// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/librdmacm/datagram_side.h"
#include "gen/librdmacm/program_report.h"
#include "roce/live/rdma_cm.h"

// The protocol of librdmacm's udaddy: the client finds the server's UD queue pair by SIDR and sends its messages, each
// with its own QP number as immediate data, and the server answers with the same number of messages.
namespace roce::gen {

inline constexpr std::uint16_t kUdaddyPort = 7174;

/// Gives the client that asked `question` a queue pair, and serves it. Messages have to fit the path MTU.
[[nodiscard]] live::Task<> udaddy_server(live::RdmaCm& cm, CommId question, MessageOptions options,
                                         ProgramReport& report);
/// Finds the server, sends, and waits for the answers. Only address, port and traffic class of `plan` are used.
[[nodiscard]] live::Task<> udaddy_client(live::RdmaCm& cm, live::ConnectPlan plan, MessageOptions options,
                                         ProgramReport& report);

}  // namespace roce::gen
