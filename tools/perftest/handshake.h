// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "perftest/channel.h"
#include "perftest/qp_line.h"
#include "roce/live/script.h"

// The exchanges of perftest's programs. In each, both ends send a message of the same size: first the client, then the
// server when it has received the client's. References have to live as long as the task. Failures are ScriptFailures
// that name what was expected and what came.
namespace roce {

/// The port of perftest's programs unless the user gives another.
inline constexpr std::uint16_t kPerftestPort = 18515;

enum class PerftestRole : std::uint8_t { client, server };

/// The values that both ends agree on before they allocate their memory.
struct PerftestAgreement {
  std::string version;                ///< the peer's version
  std::uint32_t cycle_buffer = 4096;  ///< bytes of memory that small messages go through, one after the other
  std::uint32_t cache_line = 64;      ///< least number of bytes from one of them to the next
  std::uint32_t path_mtu = 1024;      ///< bytes
};
/// Exchanges versions, cycle buffer, cache line and path MTU; `path_mtu` is ours, in bytes.
[[nodiscard]] live::Task<PerftestAgreement> exchange_agreement(PerftestChannel& channel, PerftestRole role,
                                                               std::uint32_t path_mtu);
/// Sends the keys of one QP and returns the peer's.
[[nodiscard]] live::Task<PerftestKeys> exchange_keys(PerftestChannel& channel, PerftestRole role,
                                                     const PerftestKeys& own);

/// The results of the data phase that an end of a bandwidth program reports. Those of a perftest server are not useful.
struct PerftestFigures {
  std::uint64_t size = 0;      ///< bytes of a message
  std::uint64_t messages = 0;  ///< on all QPs
  double peak_mib = 0;         ///< MiB/s; 0: not measured
  double average_mib = 0;      ///< MiB/s
  double mega_messages = 0;    ///< 10^6 messages/s
};
[[nodiscard]] live::Task<PerftestFigures> exchange_figures(PerftestChannel& channel, PerftestRole role,
                                                           const PerftestFigures& own);

}  // namespace roce
