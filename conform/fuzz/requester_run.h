// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/program_run.h"
#include "conform/fuzz/requester_model.h"

namespace roce::conform::fuzz {

/// Says what a program does next, as the model now asks for; empty at the end.
using RequesterSource = std::function<std::optional<Action>(const RequesterModel& model)>;

/// Runs a program in which the device posts requests and the tester answers. Otherwise as `run_program`.
[[nodiscard]] TargetResult<ProgramResult> run_requester(Bench& bench, const Program& program,
                                                        const RequesterSource& source);

}  // namespace roce::conform::fuzz
