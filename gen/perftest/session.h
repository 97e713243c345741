// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/perftest/channel.h"
#include "gen/perftest/connections.h"
#include "gen/perftest/options.h"
#include "gen/perftest/report.h"
#include "roce/live/endpoint.h"
#include "roce/live/script.h"

namespace roce::gen {

/// Runs one exchange with a program of perftest, from the versions to the end: handshake, data phase, results.
/// `options` are as `complete` returns them; `connections` is null if the queue pairs connect by the keys that they
/// exchange. Fills in the report except for program, role, peer and the error, which is that of the script. All
/// references have to live as long as the task.
[[nodiscard]] live::Task<> run_perftest(live::Endpoint& endpoint, const PerftestOptions& options, PerftestRole role,
                                        PerftestChannel& channel, PerftestReport& report,
                                        PerftestConnections* connections = nullptr);

}  // namespace roce::gen
