// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "gen/perftest/options.h"
#include "roce/transport/counters.h"
#include "roce/wire/time.h"
#include "runtime/latency.h"

namespace roce::gen {

/// The result of an exchange with one of the programs of perftest.
struct PerftestReport {
  PerftestProgram program = PerftestProgram::send_bw;
  PerftestRole role = PerftestRole::client;
  bool by_cm = false;      ///< connected by RDMA CM, which carries the handshake too
  std::string peer;        ///< its address
  std::string version;     ///< the peer's version; empty if it has not sent one
  std::uint32_t size = 0;  ///< bytes of a message
  std::uint32_t qps = 0;
  std::uint32_t path_mtu = 0;         ///< bytes; 0 before both ends agreed on it
  std::uint64_t messages = 0;         ///< completed; in each direction if both ends send
  Time begun = kNever;                ///< beginning of the data phase
  Time ended = kNever;                ///< end of the data phase
  runtime::LatencyHistogram latency;  ///< round trips; half of each if both ends send
  std::string compared;               ///< which part of the data was compared, in words
  bool last_ack_missing = false;  ///< the peer had all it waited for and left before it acknowledged our last message
  std::string error;              ///< why it failed; empty if it did not
  transport::Counters counters;   ///< counters of its queue pairs
};

/// Returns the seconds of the data phase; 0 if it did not end.
[[nodiscard]] double seconds_of(const PerftestReport& report);
/// Returns the bytes of all messages per second, in MiB; 0 without a data phase.
[[nodiscard]] double mib_per_second(const PerftestReport& report);
[[nodiscard]] double messages_per_second(const PerftestReport& report);

/// Prints a report: a line for people, or a JSON object on a line.
void print_perftest(const PerftestReport& report, bool json);

}  // namespace roce::gen
