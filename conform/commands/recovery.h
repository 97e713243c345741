// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "command_line/program.h"
#include "conform/commands/device.h"
#include "conform/run/suite.h"

namespace roce::conform {

/// Returns the reason why a text is not a time of at most a day, such as 90s; empty if it is one.
[[nodiscard]] std::string find_mistake_of_time(const std::string& text);

/// The way in which a user brings a device back.
struct RecoveryChoice {
  std::string command{};  ///< empty: none
  std::string time = "120s";
};

/// Adds the options of a recovery to a command; `agent` is its option of a device on a wire.
void add_recovery_options(command_line::Command& command, RecoveryChoice& choice, const command_line::Option& agent);

/// Returns the recovery that a user chose; empty if none.
[[nodiscard]] Recovery recovery_of(const RecoveryChoice& choice, std::shared_ptr<LinkWays> ways);

/// Returns the recovery of a device by a command of the user: runs it through the shell, and then connects to the agent
/// again and again until that is possible or `limit` is over, counted from the beginning. The command finds in its
/// environment `ROCE_DAMAGE` (such as `agent gone`), `ROCE_DEATH` (a sentence) and `ROCE_INSTANCES` (names of those
/// that were under way, one a line). Error: it ends with another status than 0, it takes too long and is killed with
/// all that it started, or there is no agent in time.
[[nodiscard]] Recovery recovery_by_command(std::string command, Duration limit, std::shared_ptr<LinkWays> ways);

}  // namespace roce::conform
