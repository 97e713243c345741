// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "command_line/outcome.h"
#include "perftest/handshake.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// The programs of perftest, without the `ib_` of their names.
enum class PerftestProgram : std::uint8_t {
  send_bw,
  send_lat,
  write_bw,
  write_lat,
  read_bw,
  read_lat,
  atomic_bw,
  atomic_lat,
};
/// Returns the name, such as `ib_send_bw`.
[[nodiscard]] std::string_view to_string(PerftestProgram program);
/// Returns the program of a name with or without `ib_`; nullopt if there is no such program.
[[nodiscard]] std::optional<PerftestProgram> find_perftest(std::string_view name);

/// The operation that a program measures.
enum class PerftestVerb : std::uint8_t { send, write, read, atomic };
[[nodiscard]] PerftestVerb verb_of(PerftestProgram program);
/// True if it measures latency, one message at a time, and not bandwidth.
[[nodiscard]] bool measures_latency(PerftestProgram program);
/// True if both ends send, in turn.
[[nodiscard]] bool is_pingpong(PerftestProgram program);

/// The options of a program; a 0 stands for the program's default.
struct PerftestOptions {
  PerftestProgram program = PerftestProgram::send_bw;
  std::uint32_t size = 0;        ///< bytes of a message
  std::uint32_t iterations = 0;  ///< messages on each QP; in each direction if both ends send
  std::uint32_t qps = 1;         ///< queue pairs of the bandwidth programs
  std::uint32_t path_mtu = 0;    ///< bytes; both ends use the smaller of their values
  std::uint32_t tx_depth = 128;  ///< requests outstanding on each QP, for the bandwidth programs
  bool compare_swap = false;     ///< COMPARE SWAP instead of FETCH ADD
};

/// Returns the options with the program's defaults filled in; `max_path_mtu` is the endpoint's, in bytes. Failure:
/// options that do not fit the program or the interface.
[[nodiscard]] Outcome<PerftestOptions> complete(PerftestOptions options, std::uint32_t max_path_mtu);

/// Adds -s, -n, -q, -m, -t and -A, as perftest has them. If a command already has options of these names, `prefix`
/// makes others, only those that a server needs: `perftest-` gives --perftest-size, --perftest-iters and so on.
void add_perftest_options(command_line::Command& command, PerftestOptions& options, const std::string& prefix = "");

}  // namespace roce::gen
