// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/librdmacm/datagram_side.h"
#include "gen/librdmacm/program_report.h"
#include "roce/live/rdma_cm.h"

// The protocol of librdmacm's ucmatose: the server sends its messages, then the client, then the server disconnects.
namespace roce::gen {

inline constexpr std::uint16_t kUcmatosePort = 7471;

/// Serves the client that asks for the connection `wanted`.
[[nodiscard]] live::Task<> ucmatose_server(live::RdmaCm& cm, CommId wanted, MessageOptions options,
                                           ProgramReport& report);
/// Connects to the server, with the retry counts of the program.
[[nodiscard]] live::Task<> ucmatose_client(live::RdmaCm& cm, live::ConnectPlan plan, MessageOptions options,
                                           ProgramReport& report);

}  // namespace roce::gen
