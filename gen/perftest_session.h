// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/endpoint.h"
#include "gen/perftest_channel.h"
#include "gen/perftest_connections.h"
#include "gen/perftest_options.h"
#include "gen/perftest_report.h"
#include "gen/script.h"

namespace roce::gen {

/// One exchange with a program of perftest, from the versions to the end: handshake, data phase, results. `options` are
/// complete; `connections` is null where the queue pairs tell each other all they need. It fills the report, but for
/// the program, role and peer, and the error that the script ends with. All references have to live as long as the
/// task.
[[nodiscard]] Task<> run_perftest(Endpoint& endpoint, const PerftestOptions& options, PerftestRole role,
                                  PerftestChannel& channel, PerftestReport& report,
                                  PerftestConnections* connections = nullptr);

}  // namespace roce::gen
