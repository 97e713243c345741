// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/endpoint.h"
#include "gen/perftest_channel.h"
#include "gen/perftest_connections.h"
#include "gen/perftest_options.h"
#include "gen/perftest_report.h"
#include "gen/script.h"

namespace roce::gen {

/// Runs one exchange with a program of perftest, from the versions to the end: handshake, data phase, results.
/// `options` are as `complete` returns them; `connections` is null if the queue pairs connect by the keys that they
/// exchange. Fills in the report except for program, role, peer and the error, which is that of the script. All
/// references have to live as long as the task.
[[nodiscard]] Task<> run_perftest(Endpoint& endpoint, const PerftestOptions& options, PerftestRole role,
                                  PerftestChannel& channel, PerftestReport& report,
                                  PerftestConnections* connections = nullptr);

}  // namespace roce::gen
