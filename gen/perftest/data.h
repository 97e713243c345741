// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/perftest/channel.h"
#include "gen/perftest/connections.h"
#include "gen/perftest/options.h"
#include "gen/perftest/pairs.h"
#include "gen/perftest/report.h"
#include "perftest/qp_line.h"
#include "roce/live/script.h"

namespace roce::gen {

/// An exchange whose queue pairs are connected.
struct PerftestRun {
  live::Endpoint& endpoint;
  const PerftestOptions& options;  ///< options with all values filled in
  PerftestRole role;
  PerftestChannel& channel;
  PerftestPairs& pairs;
  PerftestReport& report;
  PerftestConnections* connections;  ///< null: the queue pairs connect by the keys that they exchange
};

/// Posts the receives that the peer's messages need, before the peer may send.
void post_perftest_receives(PerftestRun& run);

/// Runs the data phase, from the barrier before it to the program's next exchange; writes messages, latencies and what
/// was compared into the report. `run` has to live as long as the task. Throws: ScriptFailure if a request fails, data
/// are wrong, or the peer is silent or gone.
[[nodiscard]] live::Task<> run_perftest_data(PerftestRun& run);

/// Server: waits until `count` requests have come, the number that the client reports, and compares again. That is
/// because a client does not wait for its last unsignaled requests. Throws: ScriptFailure if another number came.
[[nodiscard]] live::Task<> await_perftest_requests(PerftestRun& run, std::uint64_t count);

}  // namespace roce::gen
