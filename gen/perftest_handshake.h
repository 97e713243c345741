// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "gen/perftest_channel.h"
#include "gen/perftest_keys.h"
#include "gen/perftest_options.h"
#include "gen/script.h"

// The exchanges of perftest's programs. In each both ends send a message of the same size: the client first, the server
// once it has the client's. References have to live as long as the task. Failures are ScriptFailures that say what was
// expected and what came.
namespace roce::gen {

/// What both ends agree on before they make their memory.
struct PerftestAgreement {
  std::string version;                ///< the peer's
  std::uint32_t cycle_buffer = 4096;  ///< bytes of memory that small messages go through, one after the other
  std::uint32_t cache_line = 64;      ///< bytes from one of them to the next, at least
  std::uint32_t path_mtu = 1024;      ///< bytes
};
/// Versions, cycle buffer, cache line and path MTU; `path_mtu` is ours, in bytes.
[[nodiscard]] Task<PerftestAgreement> exchange_agreement(PerftestChannel& channel, PerftestRole role,
                                                         std::uint32_t path_mtu);
/// Tells one QP and hears of the peer's.
[[nodiscard]] Task<PerftestKeys> exchange_keys(PerftestChannel& channel, PerftestRole role, const PerftestKeys& own);

/// What an end of a bandwidth program tells of its data phase. A server of perftest tells nothing useful.
struct PerftestFigures {
  std::uint64_t size = 0;      ///< bytes of a message
  std::uint64_t messages = 0;  ///< on all QPs
  double peak_mib = 0;         ///< MiB/s; 0: not measured
  double average_mib = 0;      ///< MiB/s
  double mega_messages = 0;    ///< 10^6 messages/s
};
[[nodiscard]] Task<PerftestFigures> exchange_figures(PerftestChannel& channel, PerftestRole role,
                                                     const PerftestFigures& own);

}  // namespace roce::gen
