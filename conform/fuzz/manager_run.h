// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/manager_model.h"
#include "conform/fuzz/program_run.h"

namespace roce::conform::fuzz {

/// Says what a program does next, as the model now asks for; empty at the end.
using ManagerSource = std::function<std::optional<Action>(const ManagerModel& model)>;

/// Bits of the tester's communication ID that are others in a REQ for another connection.
inline constexpr std::uint32_t kFreshId = 0x100;

/// Runs a program in which the tester asks the device's communication manager for a connection. Otherwise as
/// `run_program`.
[[nodiscard]] TargetResult<ProgramResult> run_manager(Bench& bench, const Program& program,
                                                      const ManagerSource& source);

}  // namespace roce::conform::fuzz
