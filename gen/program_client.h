// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>

#include "gen/endpoint_options.h"
#include "gen/exit_code.h"
#include "gen/failure.h"
#include "gen/program_report.h"
#include "gen/rdma_cm.h"

namespace roce::gen {

/// Makes the script of a client that talks to the server at this address.
using ClientScript = std::function<Task<>(RdmaCm& cm, Gid to, ProgramReport& report)>;

/// Runs the client of one of librdmacm's programs to its end and prints its report. `host` is a name or an address.
/// Failure: there is no such interface or host.
[[nodiscard]] Outcome<ExitCode> run_client(const EndpointOptions& options, const std::string& program,
                                           const std::string& host, const ClientScript& script);

}  // namespace roce::gen
