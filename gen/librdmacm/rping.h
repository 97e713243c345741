// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "gen/librdmacm/program_report.h"
#include "roce/live/rdma_cm.h"

// The protocol of librdmacm's rping: the client sends the place of its ping, the server READs it and WRITEs it back.
namespace roce::gen {

inline constexpr std::uint16_t kRpingPort = 7174;
/// The largest ping of rping, in bytes, and so the most that a client may ask a server to READ.
inline constexpr std::uint32_t kRpingMaxSize = 65'536;

struct RpingOptions {
  std::uint32_t size = 64;   ///< bytes of a ping with its closing zero: 16 … `kRpingMaxSize`
  std::uint32_t count = 10;  ///< pings
};

/// Returns the text of the client's ping `number` (from 0), with its closing zero: `rdma-ping-NUMBER: ` and characters
/// from A to z, which begin one further with each ping. `size` ≥ 16.
[[nodiscard]] std::string rping_text(std::uint32_t number, std::uint32_t size);

/// Serves the client that asks for the connection `wanted`, until the client ends it.
[[nodiscard]] live::Task<> rping_server(live::RdmaCm& cm, CommId wanted, ProgramReport& report);
/// Connects to the server, sends pings and compares what comes back.
[[nodiscard]] live::Task<> rping_client(live::RdmaCm& cm, live::ConnectPlan plan, RpingOptions options,
                                        ProgramReport& report);

}  // namespace roce::gen
