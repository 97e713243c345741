// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "gen/pingpong/session.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// The port of the pingpong programs unless the user gives another.
inline constexpr std::uint16_t kPingpongPort = 18515;

/// Adds the options that both ends of a pingpong have, with the letters of the pingpong programs.
void add_pingpong_options(command_line::Command& command, PingpongOptions& options, std::uint16_t& port);

}  // namespace roce::gen
