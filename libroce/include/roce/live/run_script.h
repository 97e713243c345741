// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/live/driver.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/script.h"

// Scripts in the event loop of an endpoint.
namespace roce::live {

/// Continues a script in a step of the program; returns `done` once the script is over.
[[nodiscard]] Driver::Step step_script(Endpoint& endpoint, Script& script, Time now);

/// Runs a script to its end, with the communication manager that it uses. Failure: why the script or the link failed,
/// or that a signal came.
[[nodiscard]] Result<void> run_script(RdmaCm& cm, Task<> task);

}  // namespace roce::live
