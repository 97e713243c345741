// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "conform/commands/device.h"
#include "conform/run/suite.h"

namespace roce::conform {

/// Returns the recovery of a device by a command of the user: runs it through the shell, and then connects to the agent
/// again and again until that is possible or `limit` is over, counted from the beginning. The command finds in its
/// environment `ROCE_DAMAGE` (such as `agent gone`), `ROCE_DEATH` (a sentence) and `ROCE_INSTANCES` (names of those
/// that were under way, one a line). Error: it ends with another status than 0, it takes too long and is killed with
/// all that it started, or there is no agent in time.
[[nodiscard]] Recovery recovery_by_command(std::string command, Duration limit, std::shared_ptr<LinkWays> ways);

}  // namespace roce::conform
