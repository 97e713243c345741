// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/perftest_channel.h"
#include "gen/perftest_connections.h"
#include "gen/perftest_keys.h"
#include "gen/perftest_options.h"
#include "gen/perftest_pairs.h"
#include "gen/perftest_report.h"
#include "gen/script.h"

namespace roce::gen {

/// An exchange whose queue pairs are connected.
struct PerftestRun {
  const PerftestOptions& options;  ///< complete
  PerftestRole role;
  PerftestChannel& channel;
  PerftestPairs& pairs;
  PerftestReport& report;
  PerftestConnections* connections;  ///< null: the queue pairs are connected by what they tell of each other
};

/// Posts the receives that the peer's messages need, before the peer may send.
void post_perftest_receives(PerftestRun& run);

/// The data phase, from the barrier before it to where the program has the next exchange; it writes messages, latencies
/// and what was compared into the report. `run` has to live as long as the task. Throws: ScriptFailure when a request
/// fails, data are wrong, or the peer is silent or gone.
[[nodiscard]] Task<> run_perftest_data(PerftestRun& run);

/// Of a server: waits until `count` requests have come, as many as the client says that it made, and compares again. A
/// client does not wait for the last of those for which it asks no completion. Throws: ScriptFailure when others came.
[[nodiscard]] Task<> await_perftest_requests(PerftestRun& run, std::uint64_t count);

}  // namespace roce::gen
