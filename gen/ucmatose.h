// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/datagram_side.h"
#include "gen/program_report.h"
#include "gen/rdma_cm.h"

// The protocol of librdmacm's ucmatose: the server sends its messages, then the client, then the server disconnects.
namespace roce::gen {

inline constexpr std::uint16_t kUcmatosePort = 7471;

/// Serves the client that asks for the connection `wanted`.
[[nodiscard]] Task<> ucmatose_server(RdmaCm& cm, CommId wanted, MessageOptions options, ProgramReport& report);
/// Connects to the server, with the retry counts of the program.
[[nodiscard]] Task<> ucmatose_client(RdmaCm& cm, ConnectPlan plan, MessageOptions options, ProgramReport& report);

}  // namespace roce::gen
