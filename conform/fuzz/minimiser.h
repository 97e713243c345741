// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>

#include "conform/fuzz/program_run.h"

namespace roce::conform::fuzz {

/// Runs a program on a device that nothing has happened to, and returns what became of it; empty if it could not run.
using Trial = std::function<std::optional<ProgramResult>(const Program& program)>;

/// Programs that are run to make a finding as short as can be.
inline constexpr std::size_t kMostTrials = 2000;

/// Returns a program that raises the same alarm (by its place) with as few actions, and as little that is unusual about
/// them, as could be found: what follows the alarm goes, then single actions, then field changes, then each value that
/// is not the simplest. `failed` is what the program did. Runs at most `most_trials` programs.
[[nodiscard]] ProgramResult minimise(const ProgramResult& failed, const Trial& trial,
                                     std::size_t most_trials = kMostTrials);

}  // namespace roce::conform::fuzz
