// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/driver.h"
#include "gen/endpoint.h"
#include "gen/rdma_cm.h"
#include "gen/script.h"

// Scripts in the event loop of an endpoint.
namespace roce::gen {

/// Continues a script in a step of the program; returns `done` once the script is over.
[[nodiscard]] Driver::Step step_script(Endpoint& endpoint, Script& script, Time now);

/// Runs a script to its end, with the communication manager that it uses. Failure: why the script or the link failed,
/// or that a signal came.
[[nodiscard]] Outcome<void> run_script(RdmaCm& cm, Task<> task);

}  // namespace roce::gen
